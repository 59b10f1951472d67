import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import {
  type ChannelAccount,
  type ChannelInbound,
  defineChannel,
  type Json,
  type PluginDefinition,
  Type,
} from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, startGateway, type TestGateway } from "../../support/gateway.ts";

const running: TestGateway[] = [];

afterEach(async () => {
  for (const { gateway, directory } of running.splice(0)) {
    await gateway.close();
    removeDirectory(directory);
  }
});

interface Desk {
  readonly plugin: PluginDefinition;
  readonly sent: readonly string[];
  /** Called when a connection closes; it is closed when this resolves. */
  onClose: () => Promise<void>;
  say(text: string, kind?: ChannelInbound["kind"]): Promise<string>;
}

/** A channel with a setting of its own, whose text may be unreadable, or say nothing. */
function createDesk(): Desk {
  const sent: string[] = [];
  let account: ChannelAccount<{ label: string }> | undefined;
  let updates = 0;
  const desk: Desk = {
    sent,
    onClose: async () => {},
    plugin: defineChannel({
      id: "desk",
      version: "1.0.0",
      host: "^0.2.0",
      options: Type.Object({ label: Type.String({ default: "first" }) }),
      capabilities: {
        maxChars: 4_000,
        markup: "plain",
        edits: false,
        threads: false,
        reactions: false,
        media: false,
        buttons: false,
        typing: false,
        menu: false,
      },
      open(opened) {
        account = opened;
        return {
          start: async () => opened.status({ state: "connected", identity: { id: "bot" } }),
          parse(raw) {
            const inbound = raw as unknown as ChannelInbound;
            if (inbound.text === "unreadable") throw new Error("what is this");
            return inbound;
          },
          render: (reply) =>
            reply.text.includes("nothing") ? [] : [{ kind: "text", chars: reply.text.length, body: reply.text }],
          async send(part) {
            sent.push(`${opened.options.label}: ${String(part.body)}`);
            return { messageId: String(sent.length) };
          },
          close: () => desk.onClose(),
        };
      },
    }),
    async say(text, kind = "message") {
      if (account === undefined) throw new Error("the channel is not open");
      updates += 1;
      const chat = { id: "7", kind: "direct" } as const;
      const sender = { id: "7" };
      const inbound = {
        kind,
        chat,
        sender,
        text,
        media: [],
        mention: false,
        timestamp: account.now(),
      } satisfies ChannelInbound;
      return (await account.receive(inbound as unknown as Json, { id: String(updates), lane: "desk:7" })).eventId;
    },
  };
  return desk;
}

const config = (options: object = {}) => ({ channels: { desk: { dmPolicy: "open", allowFrom: ["*"], ...options } } });

async function start(desk: Desk, engine: PluginDefinition, options: object = {}): Promise<TestGateway> {
  const started = await startGateway({ config: config(options), plugins: [desk.plugin, engine] });
  running.push(started);
  return started;
}

test("an account that restarts for new settings stays available: running and waiting ones are answered", async () => {
  const desk = createDesk();
  const turn = Promise.withResolvers<void>();
  const engine = createEngine(async ({ inbound }) => {
    if (inbound.text === "one") await turn.promise;
    return inbound.text;
  });
  const { configFile, settled } = await start(desk, engine);
  const events = [await desk.say("one"), await desk.say("two")];
  const closing = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  desk.onClose = () => {
    closing.resolve();
    return closed.promise;
  };
  writeFileSync(
    configFile,
    JSON.stringify({ gateway: { port: 0, drainSeconds: 2 }, state: { dir: "state" }, ...config({ label: "second" }) }),
  );
  await closing.promise;
  turn.resolve();
  const ends = await Promise.all(events.map((event) => settled(event)));
  closed.resolve();
  desk.onClose = async () => {};
  expect(ends.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual(["answered answered", "answered answered"]);
  expect(desk.sent).toEqual(["second: one", "second: two"]);
});

test("an edited message with a command's text waits in its lane as an ordinary turn", async () => {
  const desk = createDesk();
  const order: string[] = [];
  const engine = createEngine(async ({ inbound }) => {
    order.push(`begins ${inbound.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    order.push(`ends ${inbound.text}`);
    return inbound.text;
  });
  const { settled } = await start(desk, engine, { editedMessages: "answer" });
  const events = [await desk.say("question"), await desk.say("/whoami", "edit")];
  for (const event of events) await settled(event);
  expect(order).toEqual(["begins question", "ends question", "begins /whoami", "ends /whoami"]);
});

test("an event that its channel cannot parse fails alone and does not block others", async () => {
  const desk = createDesk();
  const { settled } = await start(
    desk,
    createEngine(({ inbound }) => inbound.text),
  );
  const events = [await desk.say("unreadable"), await desk.say("hello")];
  expect(await settled(events[0] ?? "")).toMatchObject({ outcome: "failed", reason: "ingress_failed" });
  expect(await settled(events[1] ?? "")).toMatchObject({ outcome: "answered" });
});

test("a reply that is empty on its channel is recorded as silent, not as answered", async () => {
  const desk = createDesk();
  const { settled } = await start(
    desk,
    createEngine(() => "nothing to see"),
  );
  expect(await settled(await desk.say("hello"))).toMatchObject({ outcome: "silent", reason: "empty_reply" });
});

test("only connection options restart an account; other changes apply to it with the next message", async () => {
  const life: string[] = [];
  const answers: string[] = [];
  let account: ChannelAccount<{ server: string; tone: string }> | undefined;
  const plugin = defineChannel({
    id: "desk",
    version: "1.0.0",
    host: "^0.2.0",
    options: Type.Object({ server: Type.String({ default: "a" }), tone: Type.String({ default: "plain" }) }),
    connectionOptions: ["server"],
    capabilities: {
      maxChars: 4_000,
      markup: "plain",
      edits: false,
      threads: false,
      reactions: false,
      media: false,
      buttons: false,
      typing: false,
      menu: false,
    },
    open(opened) {
      account = opened;
      let { tone } = opened.options;
      life.push(`open ${opened.options.server} ${tone}`);
      return {
        start: async () => opened.status({ state: "connected", identity: { id: "bot" } }),
        parse: (raw) => raw as unknown as ChannelInbound,
        render: (reply) => [{ kind: "text", chars: reply.text.length, body: `${tone}: ${reply.text}` }],
        async send(part) {
          answers.push(String(part.body));
          return { messageId: "1" };
        },
        update(options) {
          tone = String(options.tone);
          life.push(`update ${tone}`);
        },
        close: async () => void life.push(`close ${opened.options.server}`),
      };
    },
  });
  const { configFile, settled, ...rest } = await startGateway({
    config: config(),
    plugins: [plugin, createEngine(() => "hello")],
  });
  running.push({ configFile, settled, ...rest });
  const edit = (options: object) =>
    writeFileSync(
      configFile,
      JSON.stringify({ gateway: { port: 0, drainSeconds: 2 }, state: { dir: "state" }, ...config(options) }),
    );
  const lifeIs = (wanted: readonly string[]) => expect.poll(() => life).toEqual(wanted);
  edit({ tone: "loud" });
  await lifeIs(["open a plain", "update loud"]);
  const inbound = {
    kind: "message",
    chat: { id: "7", kind: "direct" },
    sender: { id: "7" },
    text: "hi",
    media: [],
    mention: false,
  };
  const accepted = await account?.receive({ ...inbound, timestamp: 1 }, { id: "1", lane: "desk:7" });
  await settled(accepted?.eventId ?? "");
  expect(answers).toEqual(["loud: hello"]);
  // A report of something else leaves the bot's name and the last contact as they were; a call that was answered is a
  // contact.
  account?.calling()();
  account?.status({ state: "connected", detail: "the room is locked" });
  const [{ status } = { status: undefined }] = (await rest.gateway.describe()).accounts;
  expect(status).toMatchObject({ state: "connected", detail: "the room is locked", identity: { id: "bot" } });
  expect(status?.lastContactAt).toBeGreaterThan(0);
  edit({ tone: "loud", server: "b" });
  await lifeIs(["open a plain", "update loud", "open b loud", "close a"]);
});
