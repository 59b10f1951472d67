import { afterEach, describe, expect, test } from "vitest";
import { ChannelError, definePlugin } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost, type TestHostOptions } from "../../../core/testkit/index.ts";

const open: TestHost[] = [];

async function start(options: TestHostOptions = {}): Promise<TestHost> {
  const host = await createTestHost(options);
  open.push(host);
  return host;
}

afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
});

const texts = (host: TestHost, chat?: string) =>
  host
    .outbox()
    .filter((sent) => chat === undefined || sent.chat === chat)
    .map(({ text }) => text);

const codes = (report: { readonly decisions: readonly { readonly station: string; readonly code: string }[] }) =>
  report.decisions.map(({ station, code }) => `${station}:${code}`);

describe("the path of a message", () => {
  test("a message is answered, and every station records a decision", async () => {
    const host = await start();
    const report = await host.say("hello", { from: "7" });
    expect(host.outbox()).toMatchObject([{ chat: "7", text: "heard: hello" }]);
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

  test("a duplicate update is answered once, under the first event's id", async () => {
    const host = await start();
    const first = await host.say("hello", { id: "900" });
    const second = await host.say("hello", { id: "900" });
    expect(second.eventId).toBe(first.eventId);
    expect(texts(host)).toEqual(["heard: hello"]);
  });

  test("messages of one chat are answered in order, and different chats run in parallel", async () => {
    const began: string[] = [];
    const other = Promise.withResolvers<void>();
    const host = await start({
      config: { session: { dmScope: "per-peer" } },
      async answer({ inbound }) {
        began.push(inbound.text);
        if (inbound.text === "b1") other.resolve();
        await other.promise;
        return inbound.text;
      },
    });
    await Promise.all([host.say("a1", { from: "1" }), host.say("a2", { from: "1" }), host.say("b1", { from: "2" })]);
    expect(began.indexOf("b1")).toBeLessThan(began.indexOf("a2"));
    expect(texts(host, "1")).toEqual(["a1", "a2"]);
  });

  test("chats that share a session take turns in order, each seeing the previous; other chats continue", async () => {
    const seen: (readonly string[])[] = [];
    const first = Promise.withResolvers<void>();
    let now = 0;
    let most = 0;
    const host = await start({
      config: {
        agents: { defaults: { maxConcurrent: 2 }, list: [{ id: "main", default: true }, { id: "ops" }] },
        bindings: [{ agentId: "ops", match: { channel: "loopback", peer: { kind: "direct", id: "5" } } }],
      },
      async answer({ inbound, sessionKey, messages }) {
        if (sessionKey !== "agent:main:main") return inbound.text;
        now += 1;
        most = Math.max(most, now);
        seen.push(messages.map(({ text }) => text.split("] ").at(-1) ?? ""));
        if (inbound.text === "a") await first.promise;
        now -= 1;
        return `to ${inbound.text}`;
      },
    });
    const waiting = [host.say("a", { from: "1" })];
    await expect.poll(() => seen.length).toBe(1);
    for (const from of ["2", "3", "4"]) waiting.push(host.say(`b${from}`, { from }));
    // Those that wait hold no turn of others up.
    await host.say("elsewhere", { from: "5" });
    expect(texts(host)).toEqual(["elsewhere"]);
    expect(seen).toHaveLength(1);
    first.resolve();
    await Promise.all(waiting);
    expect(most).toBe(1);
    expect(seen.at(-1)).toEqual(["a", "to a", "b2", "to b2", "b3", "to b3", "b4"]);
  });

  test("at most agents.defaults.maxConcurrent turns run at once", async () => {
    let now = 0;
    let most = 0;
    const host = await start({
      config: { agents: { defaults: { maxConcurrent: 2 } }, session: { dmScope: "per-peer" } },
      async answer({ inbound }) {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now -= 1;
        return inbound.text;
      },
    });
    await Promise.all(Array.from({ length: 8 }, (_, index) => host.say("x", { from: String(index + 1) })));
    expect(texts(host)).toHaveLength(8);
    expect(most).toBe(2);
  });

  test("a control command is answered while a turn of its chat runs", async () => {
    const began = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const host = await start({
      async answer() {
        began.resolve();
        await held.promise;
        return "late";
      },
    });
    const slow = host.say("slow question", { from: "7" });
    await began.promise;
    await host.say("/whoami", { from: "7" });
    expect(texts(host)).toEqual([expect.stringContaining("Id: `7`")]);
    held.resolve();
    await slow;
    expect(texts(host).at(-1)).toBe("late");
  });

  test("an engine that fails causes a short apology and a failed event with the reason", async () => {
    const host = await start({
      answer() {
        throw new Error("the model has a headache");
      },
    });
    const report = await host.say("hello");
    expect(report.outcome).toBe("failed");
    expect(report.decisions.find(({ station }) => station === "turn")?.detail).toContain("the model has a headache");
    expect(texts(host)).toEqual([expect.stringContaining("could not answer")]);
    expect(host).not.toHaveDelivered("headache");
  });

  test("an event without an engine for its turn fails", async () => {
    const host = await start({ config: { agents: { defaults: { engine: "absent" } } } });
    const report = await host.say("hello");
    expect(report.outcome).toBe("failed");
    expect(report.reason).toBe("engine_unknown");
  });
});

describe("plugin taps", () => {
  const plugin = (setup: Parameters<typeof definePlugin>[0]["setup"]) =>
    definePlugin({ id: "guest", version: "1.0.0", host: "^0.2.0", setup });

  test("the first refusal ends the event, with its path and hint", async () => {
    const guest = plugin((host) =>
      host.tap("gating", () => ({ code: "office_hours", path: "plugins.entries.guest", hint: "Come back at nine." })),
    );
    const host = await start({ plugins: [guest] });
    const report = await host.say("hello");
    expect(report).toMatchObject({ outcome: "refused", reason: "office_hours" });
    expect(report.decisions.at(-1)).toMatchObject({
      plugin: "guest",
      path: "plugins.entries.guest",
      hint: "Come back at nine.",
    });
    expect(texts(host)).toEqual([]);
  });

  test("a gate that throws refuses the message: it fails closed", async () => {
    const guest = plugin((host) =>
      host.tap("gating", () => {
        throw new Error("broken lock");
      }),
    );
    const host = await start({ plugins: [guest] });
    expect(await host.say("hello")).toMatchObject({ outcome: "refused", reason: "gate_failed" });
    expect(texts(host)).toEqual([]);
  });

  test.each(["ingress", "routing"] as const)(
    "a tap of %s that throws ends the event at once, because a retry would fail in the same way",
    async (hook) => {
      let attempts = 0;
      const guest = plugin((host) =>
        host.tap(
          hook,
          () => {
            attempts += 1;
            throw new Error("lost the map");
          },
          { order: "early" },
        ),
      );
      const host = await start({ plugins: [guest] });
      const report = await host.say("hello");
      expect(report).toMatchObject({ outcome: "failed", reason: `${hook}_failed` });
      expect(attempts).toBe(1);
      const deciding = report.decisions.findLast(({ verdict }) => verdict === "failed");
      expect(deciding).toMatchObject({ plugin: "guest", detail: expect.stringContaining("lost the map") });
    },
  );

  test("a formatting tap that throws prevents the reply, and the sender gets the apology", async () => {
    const guest = plugin((host) =>
      host.tap("formatting", () => {
        throw new Error("redactor is down");
      }),
    );
    const host = await start({ plugins: [guest] });
    expect(await host.say("hello")).toMatchObject({ outcome: "failed", reason: "formatting_failed" });
    expect(texts(host)).toEqual([expect.stringContaining("Sorry")]);
  });

  test("a formatting tap changes the sent text, and an observer that throws has no effect", async () => {
    const guest = plugin((host) => {
      host.tap("formatting", (reply) => ({ ...reply, text: reply.text.toUpperCase() }));
      host.tap("settled", () => {
        throw new Error("observer is down");
      });
    });
    const host = await start({ plugins: [guest], allowErrors: [/observer is down/] });
    expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
    expect(texts(host)).toEqual(["HEARD: HELLO"]);
  });
});

describe("sending", () => {
  test("a send that certainly had no effect is retried until it arrives, once", async () => {
    let tries = 0;
    const host = await start();
    host.beforeSend(() => {
      tries += 1;
      if (tries < 3) throw new ChannelError("network", { retryable: true, retryAfterMs: 5, fate: "not-sent" });
    });
    const report = await host.say("hello");
    expect(report.outcome).toBe("answered");
    expect(tries).toBe(3);
    expect(texts(host)).toHaveLength(1);
  });

  test("a send with an unknown outcome is retried once when the platform responds, and is marked", async () => {
    const host = await start({ config: { session: { dmScope: "per-peer" } } });
    const tries: string[] = [];
    host.beforeSend(({ chat, text }) => {
      if (chat !== "7") return;
      tries.push(text);
      throw new ChannelError("timeout", { fate: "unknown" });
    });
    const doubtful = host.say("hello", { from: "7" });
    await expect.poll(() => tries).toEqual(["heard: hello"]);
    // What arrives elsewhere shows that the platform answers.
    await host.say("hi", { from: "8" });
    await expect.poll(() => tries).toEqual(["heard: hello", "heard: hello"]);
    // The apology waits for the platform as well.
    await host.say("hi", { from: "8" });
    const report = await doubtful;
    expect(tries).toEqual(["heard: hello", "heard: hello", expect.stringContaining("cannot confirm")]);
    expect(report).toMatchObject({ outcome: "failed", reason: "send_fate_unknown" });
    expect(codes(report)).toContain("delivery:possibly_repeated");
  });

  test("a permanent refusal by the platform ends the event with its reason and a remedy", async () => {
    const host = await start();
    const said = { detail: "Forbidden: bot was blocked by the user", hint: "Only they can change that." };
    host.beforeSend(() => {
      throw new ChannelError("blocked_by_user", said);
    });
    const report = await host.say("hello");
    expect(report).toMatchObject({ outcome: "failed", reason: "blocked_by_user" });
    expect(report.decisions).toContainEqual(
      expect.objectContaining({ station: "delivery", code: "blocked_by_user", ...said }),
    );
  });

  test.each([
    ["blocked_by_user", 1, ["delivery:blocked_by_user", "delivery:rest_not_tried"]],
    ["too_long", 3, ["delivery:too_long", "delivery:too_long", "delivery:too_long"]],
  ])("after a refusal, the rest of a reply is tried only if it could arrive: %s", async (reason, tries, told) => {
    // Three messages of this channel.
    const host = await start({ answer: () => "x".repeat(60_000) });
    const tried: string[] = [];
    host.beforeSend(({ text }) => {
      tried.push(text);
      if (!text.includes("could not be delivered")) throw new ChannelError(reason);
    });
    const report = await host.say("hello");
    expect(report).toMatchObject({ outcome: "failed", reason });
    expect(tried.filter((text) => text.startsWith("xx")).length).toBe(tries);
    expect(codes(report).filter((code) => told.includes(code))).toEqual(told);
    if (tries === 1)
      expect(report.decisions.find(({ code }) => code === "rest_not_tried")?.detail).toBe(
        "2 more messages were not tried",
      );
  });

  test.each([
    ["a send that did not happen waits", { retryable: true, fate: "not-sent" }, 0],
    ["the repetition of one of unknown fate waits", { fate: "unknown" }, 1],
  ] as const)("a gateway that stops while %s makes it at its next start, once", async (_what, error, doubts) => {
    let turns = 0;
    const host = await start({
      config: { gateway: { drainSeconds: 0.2 } },
      answer({ inbound }) {
        turns += 1;
        return inbound.text;
      },
    });
    const tried = Promise.withResolvers<void>();
    host.beforeSend(() => {
      tried.resolve();
      throw new ChannelError("network", { ...error, retryAfterMs: 60_000 });
    });
    const answered = host.say("hello", { from: "7" });
    await tried.promise;
    host.beforeSend(() => {});
    await host.restart();
    const report = await answered;
    expect(report.outcome).toBe("answered");
    expect(host.outbox()).toMatchObject([{ chat: "7", text: "hello" }]);
    expect(turns).toBe(1);
    expect(codes(report).filter((code) => code === "delivery:possibly_repeated")).toHaveLength(doubts);
  });
});

describe("silence", () => {
  test.each([
    ["NO_REPLY", "no_reply"],
    ["HEARTBEAT_OK", "heartbeat_ok"],
    ["", "empty_reply"],
  ])("a reply of %j is not sent: silent(%s)", async (text, reason) => {
    const host = await start({ answer: () => text });
    expect(await host.say("hello")).toMatchObject({ outcome: "silent", reason });
    expect(texts(host)).toEqual([]);
  });

  test.each([
    ["All is well, the backup ran. HEARTBEAT_OK", "All is well, the backup ran."],
    ["HEARTBEAT_OK: nothing needs attention.", "nothing needs attention."],
  ])("the sender gets the text beside the token: %j", async (text, said) => {
    const host = await start({ answer: () => text });
    expect(await host.say("how is it going?")).toMatchObject({ outcome: "answered" });
    expect(texts(host)).toEqual([said]);
  });
});
