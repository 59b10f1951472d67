/** Voice messages on two nodes of one PostgreSQL: real processes, of which some are killed. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { aroundEach, test } from "vitest";
import { hang, say } from "../openai-server/answers.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { freePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { createSpeechServer, type SpeechServer } from "../support/speech-server.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { answered, answers, createNodeGroup, type Node, type NodeGroup, personOf, startPair } from "./node-group.ts";

aroundEach(inOwnTest);

const database = usePostgres();

interface VoiceGroup extends NodeGroup {
  readonly ada: number;
  readonly speech: SpeechServer;
  speak(): void;
  /** Calls in the ledger, by their purpose. */
  ledger(node: Node): Promise<Readonly<Record<string, number>>>;
  /** Where the model that was asked last finds the voice message. */
  pathAsked(): string;
}

async function openGroup(): Promise<VoiceGroup> {
  const speech = await createSpeechServer();
  const ears = { api: "openai-compatible", baseUrl: speech.url };
  const group = await createNodeGroup(database, onTestFinished, {});
  const { models, ...config } = group.config as { readonly models: { readonly providers: object } };
  const ada = personOf(group.platform);
  const all = {
    ...config,
    models: { providers: { ...models.providers, ears }, speech: { in: { model: "ears/small" } } },
  };
  return {
    ...group,
    ...{ ada, speech, config: all },
    node: (name, options = {}) =>
      group.node(name, { config: { ...all, gateway: { port: 0, node: name } }, ...options }),
    speak() {
      const media = { kind: "voice" as const, bytes: voiceNote("friday"), fileName: "v.ogg", mimeType: "audio/ogg" };
      group.platform.act.say(ada, ada, "", { media });
    },
    async ledger(node) {
      const { usage } = JSON.parse((await node.command("usage", "--by", "purpose", "--json")).out) as {
        readonly usage: readonly { readonly purpose: string; readonly calls: number }[];
      };
      return Object.fromEntries(usage.map(({ purpose, calls }) => [purpose, calls]));
    },
    pathAsked: () =>
      / at (\/\S+\.ogg)\]/.exec(String(group.model.requests.at(-1)?.body.messages.at(-1)?.content))?.[1] ?? "",
  };
}

async function killNode(node: Node): Promise<void> {
  node.process.child.kill("SIGKILL");
  await node.process.finished;
}

test("after the kill of a node that has transcribed, another one answers, and has the file", async () => {
  const group = await openGroup();
  const { model, speech } = group;
  const [one, two] = await startPair(group);
  model.script(hang());
  speech.script({ text: "What is on the list?" });
  group.speak();
  await expect.poll(() => model.requests.length).toBe(1);
  const first = group.pathAsked();
  expect(first.startsWith(one.home)).toBe(true);
  await killNode(one);
  await answered(group.platform, group.ada, /machine\] What is on the list\?/);
  expect(speech.requests).toHaveLength(1);
  expect(group.pathAsked().startsWith(two.home)).toBe(true);
  expect(existsSync(group.pathAsked())).toBe(true);
  expect(await group.ledger(two)).toEqual({ transcribe: 1, turn: 2 });
});

test("after the kill of a node that transcribes, another one transcribes, and answers once", async () => {
  const group = await openGroup();
  const { speech, platform } = group;
  const [one, two] = await startPair(group);
  speech.script({ hang: true }, { text: "What is on the list?" });
  group.speak();
  await expect.poll(() => speech.requests.length).toBe(1);
  await killNode(one);
  await answered(platform, group.ada, /machine\] What is on the list\?/);
  expect(speech.requests).toHaveLength(2);
  expect(answers(platform, group.ada)).toHaveLength(1);
  // The call that was cut off may have been paid.
  expect(await group.ledger(two)).toEqual({ transcribe: 2, turn: 1 });
});

/** Hands every update to the port that is set. */
async function openProxy(ports: readonly number[]) {
  const target = { port: ports[0] ?? 0 };
  const server = createServer(async (incoming, answer) => {
    const body = await text(incoming);
    const { method, url, headers } = incoming;
    request({ port: target.port, host: "127.0.0.1", method, path: url, headers }, (response) =>
      answer.writeHead(response.resume().statusCode ?? 502).end(),
    )
      .on("error", () => answer.writeHead(502).end())
      .end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { target, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/telegram-webhook` };
}

test("what a node receives for the turn of another one is transcribed once, and can be a stop", async () => {
  const group = await openGroup();
  const { platform, model, speech, ada } = group;
  const ports = [await freePort(), await freePort()] as const;
  const proxy = await openProxy(ports);
  const { channels } = group.config as { readonly channels: { readonly botchat: object } };
  const startOn = (port: number, name: string) => {
    const webhook = { webhookUrl: proxy.url, webhookSecret: "secret-of-the-platform", webhookPort: port };
    const botchat = { ...channels.botchat, ...webhook };
    return group.node(name, { config: { ...group.config, channels: { botchat }, gateway: { port: 0, node: name } } });
  };
  const one = await startOn(ports[0], "one");
  await one.process.until(/channel connected/);
  const two = await startOn(ports[1], "two");
  await expect.poll(async () => (await fetch(`${two.url()}/readyz`)).status).toBe(200);

  // The turn that runs ends while the other node still listens ahead.
  const ends = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<string>();
  model.script(async (exchange) => {
    await ends.promise;
    await say("done")(exchange);
  });
  speech.script({ text: holds.promise });
  platform.act.say(ada, ada, "Write a novel.");
  await expect.poll(() => model.requests.length).toBe(1);
  proxy.target.port = ports[1];
  group.speak();
  await expect.poll(() => speech.requests.length).toBe(1);
  ends.resolve();
  await answered(platform, ada, "done");
  await delay(1_000);
  holds.resolve("What is on the list?");
  await answered(platform, ada, /machine\] What is on the list\?/);
  expect(speech.requests).toHaveLength(1);
  expect(await group.ledger(one)).toEqual({ transcribe: 1, turn: 2 });

  proxy.target.port = ports[0];
  model.script(hang());
  platform.act.say(ada, ada, "Write another one.");
  await expect.poll(() => model.requests.length).toBe(3);
  proxy.target.port = ports[1];
  speech.script({ text: "Stop." });
  const media = { kind: "voice" as const, bytes: voiceNote("stop"), fileName: "v.ogg", mimeType: "audio/ogg" };
  platform.act.say(ada, ada, "", { media });
  await answered(platform, ada, "Stopped.");
  expect(speech.requests).toHaveLength(2);
}, 120_000);
