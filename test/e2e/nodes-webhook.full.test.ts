/**
 * A bot in webhook mode on two nodes: the platform's updates come to either of them, through a proxy that takes turns.
 */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { say } from "../openai-server/answers.ts";
import { freePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { answered, answers, createNodeGroup, type Node, type NodeGroup, personOf } from "./node-group.ts";

const database = usePostgres();
const ends: (() => void | Promise<void>)[] = [];
const webhookSecret = "secret-of-the-platform";
let group: NodeGroup;
let proxy: Proxy;
/** The node that registers the webhook and sends, and the other one. */
let holder: Node;
let other: Node;
let listenedWhenReady = false;

interface Proxy {
  readonly url: string;
  /** The answers of each node that are not an error of the connection, in their order. */
  readonly statuses: ReadonlyMap<number, readonly number[]>;
}

/** Hands each request to the next of the ports, and on to the one after it if nothing listens there. */
async function openProxy(ports: readonly number[]): Promise<Proxy> {
  const statuses = new Map<number, number[]>(ports.map((port) => [port, []]));
  let turn = 0;
  const server = createServer(async (incoming, answer) => {
    const body = await text(incoming);
    const { method, url, headers } = incoming;
    turn += 1;
    for (let tried = 0; tried < ports.length; tried += 1) {
      const port = ports[(turn + tried) % ports.length] ?? 0;
      const status = await new Promise<number | undefined>((resolve) => {
        request({ port, host: "127.0.0.1", method, path: url, headers }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on("error", () => resolve(undefined))
          .end(body);
      });
      if (status === undefined) continue;
      statuses.get(port)?.push(status);
      return answer.writeHead(status).end();
    }
    return answer.writeHead(502).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, statuses };
}

const registrations = (platform: Platform) =>
  platform.calls.list().filter(({ method }) => /^setwebhook$/i.test(method)).length;

/** Starts a node whose listener has this port. All else is the same for all nodes. */
async function startOn(port: number, name: string): Promise<Node> {
  const { config } = group;
  const { channels } = config as { readonly channels: { readonly botchat: object } };
  const webhook = { webhookUrl: `${proxy.url}/telegram-webhook`, webhookSecret, webhookPort: port };
  const botchat = { ...channels.botchat, ...webhook, limits: { perBotPerSecond: 0, perChatPerSecond: 0 } };
  return await group.node(name, { config: { ...config, channels: { botchat }, gateway: { port: 0, node: name } } });
}

/** Posts to a listener as a stranger does; resolves with the status, or with 0 if nothing listens. */
async function postUpdate(port: number): Promise<number> {
  const headers = { "x-telegram-bot-api-secret-token": "wrong secret" };
  const answer = fetch(`http://127.0.0.1:${port}/telegram-webhook`, { method: "POST", headers, body: "{}" });
  return await answer.then(({ status }) => status).catch(() => 0);
}

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const;
  group = await createNodeGroup(database, (end) => void ends.push(end));
  proxy = await openProxy(ports);
  holder = await startOn(ports[0], "one");
  await holder.process.until(/channel connected/);
  other = await startOn(ports[1], "two");
  // A proxy routes by readiness: from that moment on the node on standby listens, too.
  while (!(await fetch(`${other.url()}/readyz`)).ok) await delay(1);
  listenedWhenReady = (await postUpdate(ports[1])) !== 0;
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test("a standby node is not ready before it listens for updates", async () => {
  expect(listenedWhenReady).toBe(true);
});

test("updates arrive at both nodes alternately, and each is answered once and in order", async () => {
  const { platform } = group;
  const ports = [...proxy.statuses.keys()];
  await expect.poll(() => Promise.all(ports.map(postUpdate))).toEqual([401, 401]);
  expect(registrations(platform)).toBe(1);
  const people = [personOf(platform), personOf(platform, 1)];
  const numbers = Array.from({ length: 10 }, (_, index) => index + 1);
  for (const number of numbers) for (const person of people) platform.act.say(person, person, `message ${number}`);
  const seen = (person: number) => answers(platform, person).map((text) => Number(/message (\d+)$/.exec(text)?.[1]));
  for (const person of people) await expect.poll(() => seen(person)).toEqual(numbers);
  const statuses = [...proxy.statuses.values()];
  expect(statuses.map((of) => of.filter((status) => status !== 200))).toEqual([[], []]);
  expect(statuses.map(({ length }) => length).toSorted()).toEqual([10, 10]);
  expect((await other.command("status")).out).toMatch(/botchat:default +standby/);
});

test("parts of a long text that arrive at different nodes become one message", async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  const [asked, told] = [model.requests.length, answers(platform, ada).length];
  model.script(say("all of it"));
  expect(platform.act.paste(ada, ada, "x".repeat(5_000))).toHaveLength(2);
  await answered(platform, ada, "all of it");
  expect(model.requests).toHaveLength(asked + 1);
  expect(answers(platform, ada)).toHaveLength(told + 1);
});

test("an answer grows in one message on any node that runs its turn", async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  const told = answers(platform, ada).length;
  // The first 200 characters are held, because they may be reasoning that has only a closing mark.
  const text = `${"It grows word by word until it is complete. ".repeat(8)}Then it ends.`;
  const edits = () => platform.calls.list().filter(({ method }) => /^editmessagetext$/i.test(method)).length;
  for (const round of [1, 2]) {
    const before = edits();
    model.script(say(text, { delayMs: 40 }));
    platform.act.say(ada, ada, `question ${round}`);
    await expect.poll(() => answers(platform, ada).slice(told)).toEqual(Array.from({ length: round }, () => text));
    expect(edits()).toBeGreaterThan(before);
  }
});

test("a node whose listener cannot bind reports it, although another node serves the bot", async () => {
  const third = await startOn([...proxy.statuses.keys()][1] ?? 0, "three");
  await third.process.until(/the webhook listener cannot bind/);
  expect((await third.command("status")).out).toMatch(/botchat:default +failed .*the port is taken: set webhookPort/);
  third.process.child.kill("SIGTERM");
  expect(await third.process.finished).toMatchObject({ code: 0 });
});

test("when the active node is killed, the other accepts updates and answers once it serves the bot", async () => {
  const { platform } = group;
  const ada = personOf(platform);
  holder.process.child.kill("SIGKILL");
  await holder.process.finished;
  const stored = async () =>
    (await database.query(group.url, "SELECT id FROM $schema.inbox WHERE body::text LIKE '%after the kill%'")).length;
  for (const number of [1, 2, 3]) platform.act.say(ada, ada, `after the kill ${number}`);
  await expect.poll(stored).toBe(3);
  await group.endLease("one");
  await answered(platform, ada, /after the kill 3$/);
  expect(answers(platform, ada).slice(-3)).toEqual(
    [1, 2, 3].map((number) => expect.stringMatching(`after the kill ${number}$`)),
  );
  await other.process.until(/channel connected/);
  expect(registrations(platform)).toBe(2);
});
