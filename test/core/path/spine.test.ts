import { afterEach, describe, expect, test } from "vitest";
import { ChannelError, definePlugin } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, type Loopback, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

const open: TestGateway[] = [];

async function start(loopback: Loopback, options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> {
  const { config, plugins = [repeat], ...rest } = options;
  const started = await startGateway({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } }, ...config },
    plugins: [loopback.plugin, ...plugins],
    ...rest,
  });
  open.push(started);
  return started;
}

afterEach(async () => {
  for (const { gateway, directory } of open.splice(0)) {
    await gateway.close();
    removeDirectory(directory);
  }
});

const codes = (report: { readonly decisions: readonly { readonly station: string; readonly code: string }[] }) =>
  report.decisions.map(({ station, code }) => `${station}:${code}`);

describe("the path of a message", () => {
  test("a message is answered, and every station leaves a decision", async () => {
    const loopback = createLoopback();
    const { settled } = await start(loopback);
    const report = await settled(await loopback.say("hello"));
    expect(loopback.sent).toEqual([{ chat: "7", text: "heard: hello" }]);
    expect(report).toMatchObject({ outcome: "answered", agentId: "main", sessionKey: "agent:main:main" });
    expect(codes(report)).toEqual([
      "ingress:message",
      "gating:dm_open",
      "routing:routed",
      "turn:done",
      "formatting:formatted",
      "delivery:sent",
    ]);
  });

  test("an update that comes twice is answered once, under the first event's id", async () => {
    const loopback = createLoopback();
    const { settled } = await start(loopback);
    const first = await loopback.say("hello", { id: "900" });
    const second = await loopback.say("hello", { id: "900" });
    await settled(first);
    expect(second).toBe(first);
    expect(loopback.sent).toHaveLength(1);
  });

  test("messages of one chat are answered in order, chats run at the same time", async () => {
    const loopback = createLoopback();
    const began: string[] = [];
    const other = Promise.withResolvers<void>();
    const engine = createEngine(async ({ inbound }) => {
      began.push(inbound.text);
      if (inbound.text === "b1") other.resolve();
      await other.promise;
      return inbound.text;
    });
    await start(loopback, { plugins: [engine], config: { session: { dmScope: "per-peer" } } });
    await Promise.all([loopback.say("a1", { sender: "1" }), loopback.say("a2", { sender: "1" }), loopback.say("b1", { sender: "2" })]);
    await loopback.sentCount(3);
    expect(began.indexOf("b1")).toBeLessThan(began.indexOf("a2"));
    expect(loopback.sent.filter(({ chat }) => chat === "1").map(({ text }) => text)).toEqual(["a1", "a2"]);
  });

  test("chats that share a session have their turns one after the other, each sees the one before, and other chats go on", async () => {
    const loopback = createLoopback();
    const seen: (readonly string[])[] = [];
    const first = Promise.withResolvers<void>();
    let now = 0;
    let most = 0;
    const engine = createEngine(async ({ inbound, sessionKey, messages }) => {
      if (sessionKey !== "agent:main:main") return inbound.text;
      now += 1;
      most = Math.max(most, now);
      seen.push(messages.map(({ text }) => text.split("] ").at(-1) ?? ""));
      if (inbound.text === "a") await first.promise;
      now -= 1;
      return `to ${inbound.text}`;
    });
    await start(loopback, {
      plugins: [engine],
      config: {
        agents: { defaults: { maxConcurrent: 2 }, list: [{ id: "main", default: true }, { id: "ops" }] },
        bindings: [{ agentId: "ops", match: { channel: "loopback", peer: { kind: "direct", id: "5" } } }],
      },
    });
    await loopback.say("a", { sender: "1" });
    await expect.poll(() => seen.length).toBe(1);
    for (const sender of ["2", "3", "4"]) await loopback.say(`b${sender}`, { sender });
    // Those that wait hold no turn of others up.
    await loopback.say("elsewhere", { sender: "5" });
    await expect.poll(() => loopback.sent.map(({ text }) => text)).toContain("elsewhere");
    expect(seen).toHaveLength(1);
    first.resolve();
    await loopback.sentCount(5);
    expect(most).toBe(1);
    expect(seen.at(-1)).toEqual(["a", "to a", "b2", "to b2", "b3", "to b3", "b4"]);
  });

  test("no more turns run at once than agents.defaults.maxConcurrent", async () => {
    const loopback = createLoopback();
    let now = 0;
    let most = 0;
    const engine = createEngine(async ({ inbound }) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now -= 1;
      return inbound.text;
    });
    const config = { agents: { defaults: { maxConcurrent: 2 } }, session: { dmScope: "per-peer" } };
    await start(loopback, { plugins: [engine], config });
    await Promise.all(Array.from({ length: 8 }, (_, index) => loopback.say("x", { sender: String(index + 1) })));
    await loopback.sentCount(8);
    expect(most).toBe(2);
  });

  test("a control command is answered while a turn of the same chat runs", async () => {
    const loopback = createLoopback();
    const held = Promise.withResolvers<void>();
    const engine = createEngine(async () => {
      await held.promise;
      return "late";
    });
    await start(loopback, { plugins: [engine] });
    await loopback.say("slow question");
    await loopback.say("/whoami");
    await loopback.sentCount(1);
    expect(loopback.sent[0]?.text).toContain("Id: `7`");
    held.resolve();
    await loopback.sentCount(2);
    expect(loopback.sent[1]?.text).toBe("late");
  });

  test("an engine that fails leaves a short apology and a failed event that says why", async () => {
    const loopback = createLoopback();
    const engine = createEngine(() => {
      throw new Error("the model has a headache");
    });
    const { settled } = await start(loopback, { plugins: [engine] });
    const report = await settled(await loopback.say("hello"));
    expect(report.outcome).toBe("failed");
    expect(report.decisions.find(({ station }) => station === "turn")?.detail).toContain("the model has a headache");
    expect(loopback.sent).toHaveLength(1);
    expect(loopback.sent[0]?.text).toContain("could not answer");
    expect(loopback.sent[0]?.text).not.toContain("headache");
  });

  test("nobody to run a turn: failed(no_engine)", async () => {
    const loopback = createLoopback();
    const { settled } = await start(loopback, { plugins: [] });
    const report = await settled(await loopback.say("hello"));
    expect(report.outcome).toBe("failed");
    expect(report.reason).toBe("engine_unknown");
  });
});

describe("taps of plugins", () => {
  const plugin = (setup: Parameters<typeof definePlugin>[0]["setup"]) =>
    definePlugin({ id: "guest", version: "1.0.0", host: "^0.1.0", setup });

  test("the first refusal ends the walk, with its path and hint", async () => {
    const loopback = createLoopback();
    const guest = plugin((host) =>
      host.tap("gating", () => ({ code: "office_hours", path: "plugins.entries.guest", hint: "Come back at nine." })),
    );
    const { settled } = await start(loopback, { plugins: [repeat, guest] });
    const report = await settled(await loopback.say("hello"));
    expect(report).toMatchObject({ outcome: "refused", reason: "office_hours" });
    expect(report.decisions.at(-1)).toMatchObject({ plugin: "guest", path: "plugins.entries.guest", hint: "Come back at nine." });
    expect(loopback.sent).toEqual([]);
  });

  test("a gate that throws refuses: it fails closed", async () => {
    const loopback = createLoopback();
    const guest = plugin((host) =>
      host.tap("gating", () => {
        throw new Error("broken lock");
      }),
    );
    const { settled } = await start(loopback, { plugins: [repeat, guest] });
    expect(await settled(await loopback.say("hello"))).toMatchObject({ outcome: "refused", reason: "gate_failed" });
    expect(loopback.sent).toEqual([]);
  });

  test.each(["ingress", "routing"] as const)(
    "a tap of %s that throws ends the event at once: the next attempt would fail alike",
    async (hook) => {
      const loopback = createLoopback();
      const guest = plugin((host) =>
        host.tap(
          hook,
          () => {
            throw new Error("lost the map");
          },
          { order: "early" },
        ),
      );
      const { settled } = await start(loopback, { plugins: [repeat, guest] });
      const report = await settled(await loopback.say("hello"));
      expect(report).toMatchObject({ outcome: "failed", reason: `${hook}_failed`, attempts: 1 });
      const deciding = report.decisions.findLast(({ verdict }) => verdict === "failed");
      expect(deciding).toMatchObject({ plugin: "guest", detail: expect.stringContaining("lost the map") });
    },
  );

  test("a formatting tap that throws keeps the reply from being sent; who asked gets the apology", async () => {
    const loopback = createLoopback();
    const guest = plugin((host) =>
      host.tap("formatting", () => {
        throw new Error("redactor is down");
      }),
    );
    const { settled } = await start(loopback, { plugins: [repeat, guest] });
    expect(await settled(await loopback.say("hello"))).toMatchObject({ outcome: "failed", reason: "formatting_failed" });
    expect(loopback.sent).toEqual([{ chat: "7", text: expect.stringContaining("Sorry") }]);
  });

  test("a formatting tap changes what is sent; an observer that throws changes nothing", async () => {
    const loopback = createLoopback();
    const guest = plugin((host) => {
      host.tap("formatting", (reply) => ({ ...reply, text: reply.text.toUpperCase() }));
      host.tap("settled", () => {
        throw new Error("observer is down");
      });
    });
    const { settled } = await start(loopback, { plugins: [repeat, guest] });
    expect(await settled(await loopback.say("hello"))).toMatchObject({ outcome: "answered" });
    expect(loopback.sent[0]?.text).toBe("HEARD: HELLO");
  });
});

describe("sending", () => {
  test("a send that surely did not happen is tried again until it arrives, once", async () => {
    const loopback = createLoopback();
    let tries = 0;
    loopback.beforeSend = () => {
      tries += 1;
      if (tries < 3) throw new ChannelError("network", { retryable: true, retryAfterMs: 5, fate: "not-sent" });
    };
    const { settled } = await start(loopback);
    const report = await settled(await loopback.say("hello"));
    expect(report.outcome).toBe("answered");
    expect(tries).toBe(3);
    expect(loopback.sent).toHaveLength(1);
  });

  test("a send of unknown fate is repeated once, when the platform answers, marked as possibly repeated, and never in a loop", async () => {
    const loopback = createLoopback();
    const tries: unknown[] = [];
    loopback.beforeSend = ({ body }) => {
      tries.push(body);
      throw new ChannelError("timeout", { fate: "unknown" });
    };
    const { gateway, settled } = await start(loopback);
    const event = await loopback.say("hello");
    const waiting = async () => (await gateway.describe()).accounts[0]?.waitingSends;
    await expect.poll(waiting).toBe(1);
    expect(tries).toEqual(["heard: hello"]);
    loopback.answers();
    // The apology waits for the platform as well.
    await expect.poll(waiting).toBe(1);
    await expect.poll(() => tries.length).toBe(2);
    loopback.answers();
    const report = await settled(event);
    expect(await waiting()).toBeUndefined();
    expect(tries).toEqual(["heard: hello", "heard: hello", expect.stringContaining("cannot confirm")]);
    expect(report).toMatchObject({ outcome: "failed", reason: "send_fate_unknown" });
    expect(codes(report)).toContain("delivery:possibly_repeated");
  });

  test("a platform that refuses for good ends the event with its reason, and with what can be done about it", async () => {
    const loopback = createLoopback();
    const said = { detail: "Forbidden: bot was blocked by the user", hint: "Only they can change that." };
    loopback.beforeSend = () => {
      throw new ChannelError("blocked_by_user", said);
    };
    const { settled } = await start(loopback);
    const report = await settled(await loopback.say("hello"));
    expect(report).toMatchObject({ outcome: "failed", reason: "blocked_by_user" });
    expect(report.decisions).toContainEqual(expect.objectContaining({ station: "delivery", code: "blocked_by_user", ...said }));
  });

  test.each([
    ["blocked_by_user", 1, ["delivery:blocked_by_user", "delivery:rest_not_tried"]],
    ["too_long", 3, ["delivery:too_long", "delivery:too_long", "delivery:too_long"]],
  ])("the rest of a reply is tried after a refusal only where it could arrive: %s", async (reason, tries, told) => {
    const loopback = createLoopback();
    const tried: string[] = [];
    loopback.beforeSend = ({ body }) => {
      tried.push(String(body));
      if (!String(body).includes("could not be delivered")) throw new ChannelError(reason);
    };
    const { settled } = await start(loopback);
    // Three messages of this channel.
    const report = await settled(await loopback.say("x".repeat(80_000)));
    expect(report).toMatchObject({ outcome: "failed", reason });
    expect(tried.filter((text) => text.includes("x")).length).toBe(tries);
    expect(codes(report).filter((code) => told.includes(code))).toEqual(told);
    if (tries === 1) expect(report.decisions.find(({ code }) => code === "rest_not_tried")?.detail).toBe("2 more messages were not tried");
  });

  test.each([
    ["a send that did not happen waits", { retryable: true, fate: "not-sent" }, 0],
    ["the repetition of one of unknown fate waits", { fate: "unknown" }, 1],
  ] as const)("a gateway that stops while %s sends it at its next start, once", async (_what, error, doubts) => {
    const loopback = createLoopback();
    const tried = Promise.withResolvers<void>();
    loopback.beforeSend = () => {
      tried.resolve();
      throw new ChannelError("network", { ...error, retryAfterMs: 60_000 });
    };
    const first = await start(loopback, { config: { gateway: { port: 0, drainSeconds: 0.2 } } });
    const id = await loopback.say("hello");
    await tried.promise;
    await first.gateway.close();
    open.length = 0;
    let turns = 0;
    const engine = createEngine(({ inbound }) => {
      turns += 1;
      return inbound.text;
    });
    const again = createLoopback();
    const { settled } = await start(again, { directory: first.directory, plugins: [engine] });
    const report = await settled(id);
    expect(report.outcome).toBe("answered");
    expect(again.sent).toEqual([{ chat: "7", text: "heard: hello" }]);
    expect(turns).toBe(0);
    expect(codes(report).filter((code) => code === "delivery:possibly_repeated")).toHaveLength(doubts);
  });
});

describe("silence", () => {
  test.each([
    ["NO_REPLY", "no_reply"],
    ["HEARTBEAT_OK", "heartbeat_ok"],
    ["", "empty_reply"],
  ])("a reply of %j is not sent: silent(%s)", async (text, reason) => {
    const loopback = createLoopback();
    const { settled } = await start(loopback, { plugins: [createEngine(() => text)] });
    expect(await settled(await loopback.say("hello"))).toMatchObject({ outcome: "silent", reason });
    expect(loopback.sent).toEqual([]);
  });

  test.each([
    ["All is well, the backup ran. HEARTBEAT_OK", "All is well, the backup ran."],
    ["HEARTBEAT_OK: nothing needs attention.", "nothing needs attention."],
  ])("who asked gets what stands beside the word: %j", async (text, said) => {
    const loopback = createLoopback();
    const { settled } = await start(loopback, { plugins: [createEngine(() => text)] });
    expect(await settled(await loopback.say("how is it going?"))).toMatchObject({ outcome: "answered" });
    expect(loopback.sent).toEqual([{ chat: expect.any(String), text: said }]);
  });
});
