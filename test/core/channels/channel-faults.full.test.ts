import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pluginDeadlines } from "../../../core/host/deadline.ts";
import type {
  ChannelConnection,
  EngineTurn,
  Part,
  PluginDefinition,
  Reply,
  TurnEvent,
} from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createDesk, type Desk, faults, misbehave, platformAnswers, playTimers } from "../../support/faults.ts";
import { createEngine, createLoopback, type Loopback, startGateway, type TestGateway } from "../../support/gateway.ts";

const realTimeout = globalThis.setTimeout;

let running: (TestGateway & { readonly calls: () => number; readonly loopback: Loopback }) | undefined;

beforeEach(playTimers);

afterEach(async () => {
  vi.useRealTimers();
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

/** A gateway with the broken channel and one that works; the model's calls are counted. */
async function start(
  desk: Desk,
  {
    answer = () => "**hello**",
    config = {},
    plugins = [],
  }: {
    readonly answer?: (turn: EngineTurn) => AsyncIterable<TurnEvent> | string | Promise<string>;
    readonly config?: object;
    readonly plugins?: readonly PluginDefinition[];
  } = {},
) {
  const loopback = createLoopback();
  let calls = 0;
  const engine = createEngine((turn) => {
    if (turn.inbound.channel !== "desk" && turn.inbound.authority === "channel") return "works";
    calls += 1;
    return answer(turn);
  });
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const gateway = await startGateway({
    config: { channels: { desk: open, loopback: open }, ...config },
    plugins: [desk.plugin, loopback.plugin, engine, ...plugins],
  });
  running = { ...gateway, calls: () => calls, loopback };
  return running;
}

/** What a fault must cost nobody else. */
async function expectOthersToGoOn(): Promise<void> {
  const { loopback, settled } = running ?? expect.fail("nothing runs");
  expect(await settled(await loopback.say("hi"))).toMatchObject({ outcome: "answered" });
  expect(loopback.sent.at(-1)?.text).toBe("works");
}

const log = () => readFileSync(join(running?.gateway.stateDirectory ?? "", "logs", "gateway.log"), "utf8");
const logged = (call: string) =>
  vi.waitFor(() => expect(log()).toMatch(new RegExp(`"plugin":"acme".*acme .*${call} of desk:default`)), 60_000);

describe("parse", () => {
  test.each(["throws", "rejects", "returns junk"] as const)(
    "that %s fails only its own event, and the trace names the plugin",
    async (fault) => {
      const desk = createDesk((_, good) => ({
        parse: (raw, more) =>
          JSON.stringify(raw).includes("broken")
            ? (misbehave(fault, { ms: 0, junk: { kind: "message" } }) as never)
            : good.parse(raw, more),
      }));
      const { settled, calls } = await start(desk);
      const report = await settled(await desk.say("broken"));
      expect(report).toMatchObject({ outcome: "failed", reason: "ingress_failed", attempts: 1 });
      expect(report.decisions.at(-1)).toMatchObject({ plugin: "acme", detail: expect.stringContaining("acme") });
      expect(calls()).toBe(0);
      expect(await settled(await desk.say("fine"))).toMatchObject({ outcome: "answered" });
      await expectOthersToGoOn();
    },
  );
});

describe("render", () => {
  test.each(faults)("that %s fails the event and names its plugin, and the model is called once", async (fault) => {
    const desk = createDesk(() => ({ render: () => misbehave(fault, { ms: 0 }) as never }));
    const { settled, calls } = await start(desk);
    const report = await settled(await desk.say("hi"));
    expect(report).toMatchObject({ outcome: "failed", reason: "render_failed", attempts: 1 });
    expect(report.decisions).toContainEqual(
      expect.objectContaining({ station: "formatting", plugin: "acme", code: "render_failed" }),
    );
    expect(calls()).toBe(1);
    await logged("render");
    await expectOthersToGoOn();
  });

  test("that fails for one reply only sends the sender one apology, and the model is called once", async () => {
    const render: ChannelConnection["render"] = ({ text }) => {
      if (text.includes("hello")) throw new Error("the plugin is broken");
      return [{ kind: "text", chars: text.length, body: text }];
    };
    const desk = createDesk(() => ({ render }));
    const { settled, calls } = await start(desk);
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "failed", reason: "render_failed" });
    expect(desk.sent).toEqual([expect.stringContaining("Sorry")]);
    expect(calls()).toBe(1);
  });

  test.each(["throws", "rejects", "returns junk"] as const)(
    "that %s on markup falls back to plain text",
    async (fault) => {
      const render = ({ text }: Reply) =>
        /(?<!\\)\*\*/.test(text)
          ? misbehave(fault, { ms: 0, junk: [{ kind: "text", chars: 1, body: 10n }] })
          : [{ kind: "text", chars: text.length, body: text.replaceAll("\\", "") }];
      const desk = createDesk(() => ({ render: render as never }), { markup: "rich" });
      const { settled, calls } = await start(desk);
      const report = await settled(await desk.say("hi"));
      expect(report).toMatchObject({ outcome: "answered", attempts: 1 });
      expect(report.decisions).toContainEqual(expect.objectContaining({ plugin: "acme", code: "sent_as_text" }));
      expect(desk.sent).toEqual(["**hello**"]);
      expect(calls()).toBe(1);
    },
  );

  test("that fails on buttons falls back to the text with its markup", async () => {
    const render: ChannelConnection["render"] = ({ text, buttons }) => {
      if (buttons.length > 0) throw new Error("the plugin is broken");
      return [{ kind: "text", chars: text.length, body: text }];
    };
    const desk = createDesk(() => ({ render }), { markup: "rich", rich: true });
    const { settled } = await start(desk, {
      async *answer() {
        yield { type: "text", delta: "**hello**" };
        yield { type: "buttons", buttons: [[{ text: "Yes", value: "y" }]] };
        yield { type: "done" };
      },
    });
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered" });
    expect(desk.sent).toEqual(["**hello**"]);
  });
});

describe("admit", () => {
  test.each(faults)(
    "that %s delays the reply no longer than its deadline, and the reply is sent once",
    async (fault) => {
      const desk = createDesk(() => ({ admit: () => misbehave(fault, { ms: pluginDeadlines.admit }) as never }));
      const { settled, calls } = await start(desk);
      const report = await settled(await desk.say("hi"));
      expect(report).toMatchObject({ outcome: "answered", attempts: 1 });
      expect(report.decisions).toContainEqual(expect.objectContaining({ plugin: "acme", code: "admit_failed" }));
      expect(desk.sent).toEqual(["**hello**"]);
      expect(calls()).toBe(1);
      await expectOthersToGoOn();
    },
  );
});

describe("send", () => {
  test.each(["throws", "rejects", "never answers", "answers late"] as const)(
    "that %s has an unknown outcome: one retry, one apology, and the trace names the plugin",
    async (fault) => {
      const sends: string[] = [];
      const send = ({ body }: Part) => {
        sends.push(String(body));
        return misbehave(fault, { ms: pluginDeadlines.send, good: { messageId: "1" } }) as never;
      };
      const desk = createDesk(() => ({ send }));
      const { settled, calls } = await start(desk, {
        config: { channels: { desk: { ...openDesk, retry: quick }, loopback: openDesk } },
      });
      platformAnswers(() => desk.accounts.at(-1)?.calling()());
      const report = await settled(await desk.say("hi"));
      expect(report).toMatchObject({ outcome: "failed", reason: "send_fate_unknown", attempts: 1 });
      expect(report.decisions.at(-1)).toMatchObject({ plugin: "acme", detail: expect.stringContaining("acme") });
      expect(sends).toEqual([
        "**hello**",
        "**hello**",
        expect.stringContaining("cannot confirm that all of it arrived"),
      ]);
      expect(calls()).toBe(1);
      await expectOthersToGoOn();
    },
  );

  test("that returns an invalid value still had its effect, so nothing is retried", async () => {
    const desk = createDesk((_, good) => ({
      send: (part, address, signal) => good.send(part, address, signal).then(() => undefined as never),
    }));
    const { settled } = await start(desk);
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
    expect(desk.sent).toEqual(["**hello**"]);
    await logged("send");
  });
});

const openDesk = { dmPolicy: "open", allowFrom: ["*"] };
const quick = { attempts: 2, minDelayMs: 1, maxDelayMs: 2, jitter: 0 };

/** Text that is shown while it grows, then the rest once the test says so. */
async function* growing(end: Promise<unknown>): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: "**hello**" };
  await end;
  yield { type: "done" };
}

describe("activity shown while a turn runs", () => {
  test.each(faults)("typing that %s does not fail a turn", async (fault) => {
    const called = Promise.withResolvers<void>();
    const typing = () => {
      realTimeout(called.resolve, 60);
      return misbehave(fault, { ms: pluginDeadlines.typing }) as never;
    };
    const desk = createDesk(() => ({ typing }), { rich: true });
    const { settled, calls } = await start(desk, { answer: () => growing(called.promise) });
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
    expect(calls()).toBe(1);
    if (fault !== "returns junk") await logged("typing");
    await expectOthersToGoOn();
  });

  test.each(faults)("a reaction that %s does not fail a turn", async (fault) => {
    const called = Promise.withResolvers<void>();
    const react = () => {
      realTimeout(called.resolve, 60);
      return misbehave(fault, { ms: pluginDeadlines.react }) as never;
    };
    const desk = createDesk(() => ({ react }), { rich: true });
    const config = { messages: { ackReaction: "👀", ackReactionScope: "all", removeAckAfterReply: true } };
    const { settled, calls } = await start(desk, { answer: () => growing(called.promise), config });
    expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
    expect(calls()).toBe(1);
    if (fault !== "returns junk") await logged("react");
    await expectOthersToGoOn();
  });

  test.each(["throws", "returns junk"] as const)(
    "a preview that %s shows nothing, and the reply is sent",
    async (fault) => {
      const called = Promise.withResolvers<void>();
      const preview = () => {
        called.resolve();
        return misbehave(fault, { ms: 0 }) as never;
      };
      const desk = createDesk(() => ({ preview }), { rich: true });
      const { settled, calls } = await start(desk, { answer: () => growing(called.promise) });
      expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
      expect(desk.sent).toEqual(["**hello**"]);
      expect(calls()).toBe(1);
    },
  );

  test.each(faults)(
    "a preview whose close call %s lets the reply replace the message that the preview named",
    async (fault) => {
      const shown = Promise.withResolvers<void>();
      const preview: ChannelConnection["preview"] = (_address, { onMessage }) => ({
        update() {
          onMessage(["p1"]);
          shown.resolve();
        },
        close: () => misbehave(fault, { ms: pluginDeadlines.closePreview, good: ["p2"] }) as never,
      });
      const desk = createDesk(() => ({ preview }), { rich: true });
      const { settled, calls } = await start(desk, { answer: () => growing(shown.promise) });
      expect(await settled(await desk.say("hi"))).toMatchObject({ outcome: "answered", attempts: 1 });
      expect(desk.sent).toEqual(["***hello**"]);
      expect(calls()).toBe(1);
      await logged("preview close");
    },
  );

  test.each(faults)("a preview whose removal %s does not keep its event from ending", async (fault) => {
    const shown = Promise.withResolvers<void>();
    const preview: ChannelConnection["preview"] = (_address, { onMessage }) => ({
      update() {
        onMessage(["p1"]);
        shown.resolve();
      },
      close: async () => ["p1"],
    });
    const remove = () => {
      // The wait before the next try.
      realTimeout(() => vi.advanceTimersByTime(60_000), 30);
      return misbehave(fault, { ms: pluginDeadlines.remove }) as never;
    };
    const desk = createDesk(() => ({ preview, remove }), { rich: true });
    const { settled } = await start(desk, {
      config: { channels: { desk: { ...openDesk, retry: quick }, loopback: openDesk } },
      async *answer() {
        yield { type: "text", delta: "NO_REPLY is what I would say" };
        await shown.promise;
        throw new Error("and then the model failed");
      },
    });
    const report = await settled(await desk.say("hi"));
    expect(report).toMatchObject({ outcome: "failed", attempts: 1 });
    expect(desk.sent).toEqual([expect.stringContaining("Sorry")]);
    await expectOthersToGoOn();
  });
});

describe("queries about people, chats and files", () => {
  const hooks = { hooks: { enabled: true, token: "a-token-that-is-long" } };
  const post = async (path: string, body: object, token: string) =>
    await fetch(`${running?.gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const manage = async (path: string, body: object) => {
    const token = readFileSync(join(running?.gateway.stateDirectory ?? "", "gateway-token"), "utf8").trim();
    return JSON.stringify(await (await post(`/gateway/${path}`, body, token)).json());
  };

  test.each(faults)("resolve that %s fails its event before the model is called, naming the plugin", async (fault) => {
    const desk = createDesk(() => ({
      resolve: () => misbehave(fault, { ms: pluginDeadlines.resolve, good: "7" }) as never,
    }));
    const { settled, calls } = await start(desk, {
      config: { ...hooks, channels: { desk: openDesk, loopback: openDesk } },
    });
    const sent = await post(
      "/hooks/agent",
      { message: "hi", channel: "desk", to: "@somebody" },
      "a-token-that-is-long",
    );
    const { runId } = (await sent.json()) as { readonly runId: string };
    const report = await settled(runId);
    expect(report).toMatchObject({ outcome: "failed", reason: "routing_failed", attempts: 1 });
    expect(report.decisions.at(-1)).toMatchObject({ plugin: "acme" });
    expect(calls()).toBe(0);
    await expectOthersToGoOn();
  });

  test.each(faults)("fetchMedia that %s costs only the file: the message is still answered", async (fault) => {
    const fetchMedia = () => misbehave(fault, { ms: pluginDeadlines.fetchMedia, good: {} }) as never;
    const desk = createDesk(() => ({ fetchMedia }), { rich: true });
    let asked = "";
    const { settled, calls } = await start(desk, {
      answer: ({ messages }) => {
        asked = messages.at(-1)?.text ?? "";
        return "hello";
      },
    });
    const report = await settled(await desk.say("look", { media: [{ kind: "image", ref: "1" }] }));
    expect(report).toMatchObject({ outcome: "answered", attempts: 1 });
    expect(asked).toContain("could not be fetched");
    expect(calls()).toBe(1);
    await expectOthersToGoOn();
  });

  test.each(faults)("a probe that %s is reported with the reason", async (fault) => {
    const desk = createDesk(() => ({
      probe: () => misbehave(fault, { ms: pluginDeadlines.probe, good: { ok: true, detail: "fine" } }) as never,
    }));
    await start(desk);
    const said = await manage("probe", {});
    expect(said).toContain('"ok":false');
    expect(said).toMatch(/acme|no answer within/);
    await expectOthersToGoOn();
  });

  test.each(faults)("members that %s affects the report of that group only", async (fault) => {
    const desk = createDesk(() => ({
      probe: async () => ({ ok: true, detail: "fine" }),
      members: (chat) =>
        chat === "-1"
          ? (misbehave(fault, { ms: pluginDeadlines.members, good: {} }) as never)
          : Promise.resolve({ ok: true, detail: "member" }),
    }));
    await start(desk, {
      config: { channels: { desk: { ...openDesk, groups: { "-1": {}, "-2": {} } }, loopback: openDesk } },
    });
    const said = JSON.parse(await manage("probe", {})) as {
      readonly accounts: readonly { readonly channel: string }[];
    };
    expect(said.accounts.find(({ channel }) => channel === "desk")).toMatchObject({
      probe: { ok: true },
      groups: [
        { chat: "-1", ok: false, detail: expect.stringMatching(/acme|no answer within/) },
        { chat: "-2", ok: true },
      ],
    });
  });

  test.each(faults)("findMedia that %s is a refusal that names the plugin", async (fault) => {
    const findMedia = () => misbehave(fault, { ms: pluginDeadlines.findMedia, good: [] }) as never;
    const desk = createDesk(() => ({ findMedia }), { rich: true });
    await start(desk, {
      config: { channels: { desk: { ...openDesk, actions: { sticker: true } }, loopback: openDesk } },
    });
    const said = await manage("actions", { action: "sticker-search", channel: "desk", query: "cat" });
    expect(said).toContain("channel_failed");
    expect(said).toContain("acme");
    await expectOthersToGoOn();
  });
});
