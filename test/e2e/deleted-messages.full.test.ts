/**
 * Messages that their writers delete and edit: real gateways, some of which are killed, a channel whose platform posts
 * to any node, and the model over real HTTP.
 */
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { aroundEach, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { hang, say } from "../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { usePostgres } from "../support/postgres.ts";
import { kill, type Running, restart as startAgain, startGatewayProcess } from "./room.ts";

aroundEach(inOwnTest);

const database = usePostgres();

const channel = `import { Type } from "service-gateway/sdk";
import { defineChannel } from "service-gateway/sdk/channel";

export default defineChannel({
  id: "pager",
  version: "1.0.0",
  host: "*",
  options: Type.Object({ url: Type.String({ description: "Address of the platform." }) }),
  capabilities: { maxChars: 4_000 },
  open(account) {
    account.route({
      path: "events",
      async handler({ body }) {
        await account.receive(JSON.parse(body.toString("utf8")));
        return { status: 200 };
      },
    });
    return {
      start: async () => account.status({ state: "connected" }),
      standBy: async () => {},
      parse: ({ id, words, deletes, edits }) => ({
        kind: deletes !== undefined ? "delete" : edits !== undefined ? "edit" : "message",
        chat: { id: "7", kind: "direct" },
        sender: { id: "7", name: "Ada" },
        text: words ?? "",
        messageId: deletes ?? edits ?? id,
      }),
      render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
      async send({ body }, _address, signal) {
        const response = await fetch(account.options.url, { method: "POST", body: String(body), signal });
        return { messageId: await response.text() };
      },
      close: async () => {},
    };
  },
});
`;

/** The platform: takes what the bot sends. */
async function openPlatform() {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    seen.push(await text(request));
    response.end(`out-${seen.length}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function openPlace() {
  const [platform, model] = await Promise.all([openPlatform(), createOpenAiServer()]);
  onTestFinished(() => model.close());
  const home = temporaryHome();
  mkdirSync(join(home, "pager"));
  writeFileSync(join(home, "pager", "index.ts"), channel);
  const config = {
    plugins: { load: [join(home, "pager")] },
    channels: { pager: { url: platform.url, dmPolicy: "open", allowFrom: ["*"] } },
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: { defaults: { model: "local/test-model", heartbeat: { every: "0" } } },
    log: { level: "trace" },
  };
  return { platform, model, home, config };
}

async function post(gateway: Pick<Running, "url">, event: object): Promise<void> {
  const response = await fetch(`${gateway.url}/channels/pager/default/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(event),
  });
  expect(response.status).toBe(200);
}

/** What is stored and written, as an operator reads it. */
async function readAll(
  { file, home }: Pick<Running, "file" | "home">,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = async (...args: readonly string[]) => (await run([...args, "--config", file], { home, env })).out;
  const listed = await command("events", "list", "--json", "--all");
  const ids = [...listed.matchAll(/"id": ?"([^"]+)"/g)].map(([, id = ""]) => id);
  return [
    listed,
    await command("privacy", "export", "pager:7"),
    await command("sessions", "show", "last", "--json", "--limit", "0"),
    ...(await Promise.all(ids.map((id) => command("why", id)))),
    readFileSync(join(home, "state", "logs", "gateway.log"), "utf8"),
  ].join("\n");
}

/** The reasons of the events that have ended. */
async function reasons({ file, home }: Pick<Running, "file" | "home">): Promise<string> {
  return (await run(["events", "list", "--config", file], { home })).out;
}

const asked = (model: OpenAiServer) => JSON.stringify(model.requests.map(({ body }) => body));

test("deleted before its turn: not answered after a kill, and its words are nowhere", async () => {
  const { platform, model, home, config } = await openPlace();
  const gateway = await startGatewayProcess(config, { home });
  model.script(hang());
  await post(gateway, { id: "1", words: "Write a novel." });
  await expect.poll(() => model.requests.length).toBe(1);
  await post(gateway, { id: "2", words: "the code is 7391" });
  await post(gateway, { id: "3", words: "and my name is Ada" });
  // A platform may repeat the words with their deletion.
  await post(gateway, { id: "4", deletes: "2", words: "the code is 7391" });
  await kill(gateway);

  model.script(say("a novel"), say("hello Ada"));
  const again = await startAgain({ home, file: gateway.file });
  await expect.poll(() => platform.seen).toEqual(["a novel", "hello Ada"]);
  await expect.poll(() => reasons(again)).toContain("deleted_by_sender");
  expect(await reasons(again)).toContain("message_deleted");
  expect(asked(model)).not.toContain("7391");
  const all = await readAll(again);
  expect(all).toContain("my name is Ada");
  expect(all).not.toContain("7391");
});

test("deleted during its turn: the turn ends at once, nothing is sent, and nothing is left of it", async () => {
  const { platform, model, home, config } = await openPlace();
  const gateway = await startGatewayProcess(config, { home });
  model.script(hang(), say("hello Ada"));
  await post(gateway, { id: "1", words: "the code is 7391" });
  await expect.poll(() => model.requests.length).toBe(1);
  await post(gateway, { id: "2", deletes: "1" });
  await expect.poll(() => reasons(gateway)).toContain("deleted_by_sender");
  await post(gateway, { id: "3", words: "my name is Ada" });
  await expect.poll(() => platform.seen).toEqual(["hello Ada"]);
  expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain("7391");
  expect(await readAll(gateway)).not.toContain("7391");
});

test("on two nodes: a deletion that one receives ends the turn of the other, and removes its words", async () => {
  const url = database.newUrl();
  const env = { DATABASE_URL: url };
  const { platform, model, home, config } = await openPlace();
  const node = (name: string, at: string) =>
    startGatewayProcess(
      {
        ...config,
        gateway: { port: 0, node: name },
        state: { dir: "state", store: "postgres", url },
      },
      { home: at, env },
    );
  const one = await node("one", home);
  const two = await node("two", temporaryHome());
  model.script(hang(), say("hello Ada"));
  await post(one, { id: "1", words: "the code is 7391" });
  await expect.poll(() => model.requests.length).toBe(1);
  await post(two, { id: "2", deletes: "1" });
  await expect.poll(() => reasons(one)).toContain("deleted_by_sender");
  await post(two, { id: "3", words: "my name is Ada" });
  await expect.poll(() => platform.seen).toEqual(["hello Ada"]);
  for (const gateway of [one, two]) expect(await readAll(gateway, env)).not.toContain("7391");
  const [row] = await database.query(
    url,
    `SELECT count(*)::int AS found FROM (SELECT body::text AS words FROM $schema.inbox UNION ALL
      SELECT content FROM $schema.messages UNION ALL SELECT value FROM $schema.kv) all_words
      WHERE words LIKE '%7391%'`,
  );
  expect(row?.found).toBe(0);
});
