/** A role of the database that has no rights sends notifications to the nodes: they live, believe nothing and go on. */
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createStopsOnNodes } from "../../core/agents/turn/stops-on-nodes.ts";
import { joinNodes } from "../../core/gateway/nodes.ts";
import type { NodeWatcher } from "../../core/state/index.ts";
import { say } from "../openai-server/answers.ts";
import { feedJunk } from "../support/junk.ts";
import { usePostgres } from "../support/postgres.ts";
import { answered, createNodeGroup, personOf } from "./node-group.ts";

const database = usePostgres();

test("10,000 forged notifications a second, of any content, end no node, and the bot still answers", async () => {
  const group = await createNodeGroup(database, onTestFinished);
  const { platform, model, url } = group;
  const node = await group.node("one");
  await node.process.until(/channel connected/);
  await database.query(url, "CREATE ROLE other LOGIN");
  const [address = ""] = url.replace("//postgres@", "//other@").split("?");
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  const schema = `"${new URL(url).searchParams.get("schema")}"`;
  const note = (topic: string, body: unknown) => JSON.stringify({ schema, from: "x", topic, body });
  const topics = ["stop", "stopped", "activation", "running", "running-here"];
  const payloads = [
    "null",
    "not json",
    "5",
    '"text"',
    "{}",
    ...topics.map((topic) => note(topic, null)),
    ...topics.map((topic) => note(topic, 5)),
  ];
  const channels = ["service_gateway_notes", "service_gateway_work", "service_gateway_look", "service_gateway_turns"];
  for (const channel of channels) {
    for (const payload of payloads) await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
    for (let part = 0; part < 4; part += 1)
      await client.query("SELECT pg_notify($1, $2 || n) FROM generate_series(1, 2500) AS n", [channel, `${part} `]);
  }
  model.script(say("still here"));
  const ada = personOf(platform);
  platform.act.say(ada, ada, "are you there?");
  await answered(platform, ada, "still here");
  expect((await fetch(`${node.url()}/healthz`)).status).toBe(200);
});

test("any invalid note is attributed to the node that sent it; 10,000 of them are logged a few times", async () => {
  let watcher: NodeWatcher | undefined;
  const lines: string[] = [];
  const watch = (given: NodeWatcher) => {
    watcher = given;
  };
  const store = { nodes: { name: "one", watch, send: async () => {} } } as never;
  const stops = createStopsOnNodes({ store, turns: { stopAt: () => 0 }, onError() {} });
  const heard: unknown[] = [];
  const deaf = { hear: (note: unknown) => void heard.push(note) };
  const log = { info() {}, error() {}, warn: (_fields: object, message: string) => void lines.push(message) };
  joinNodes({ store, log, runtime: { stops, running: deaf, activation: deaf, deletions: deaf } } as never);
  await feedJunk({
    send(body) {
      for (const topic of ["stop", "stopped"]) watcher?.note({ topic, body: body as never });
    },
    works() {
      const before = heard.length;
      watcher?.note({ topic: "running", body: { sessionKey: "s" } as never });
      expect(heard.length).toBeGreaterThan(before);
    },
    named: () => lines,
    kinds: 2,
  });
  expect(lines[0]).toMatch(/^another node of the store sent an object with the fields topic, body/);
});
