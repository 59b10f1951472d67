import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ChannelError } from "../../../core/contract/index.ts";
import type { ChannelStatus } from "../../../core/sdk/contract.ts";
import { keepConnected, type LiveConnection } from "../../../core/sdk/keep-connected.ts";
import { createTokenBucket } from "../../../core/sdk/token-bucket.ts";

let closing: AbortController;
let statuses: ChannelStatus[];
let clock: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  closing = new AbortController();
  statuses = [];
  clock = 1_760_000_000_000;
});

afterEach(() => {
  closing.abort();
  vi.useRealTimers();
});

const account = () => ({
  signal: closing.signal,
  now: () => clock,
  status: (status: ChannelStatus) => void statuses.push(status),
});
const advance = async (ms: number) => {
  clock += ms;
  await vi.advanceTimersByTimeAsync(ms);
};
const states = () => statuses.map(({ state }) => state);

/** A connection that the test ends. */
function connection(identity?: LiveConnection["identity"]) {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  return { live: { lost: promise, ...(identity && { identity }) }, lose: (reason?: unknown) => resolve(reason) };
}

describe("a maintained connection", () => {
  test("is reported with the bot's name, and start resolves", async () => {
    await keepConnected(account(), async () => connection({ id: "1", username: "bot" }).live);
    expect(statuses).toEqual([
      { state: "connecting" },
      { state: "connected", lastContactAt: clock, identity: { id: "1", username: "bot" } },
    ]);
  });

  test("to an unavailable platform is retried at growing intervals; start resolves, status has a reason", async () => {
    let attempts = 0;
    await keepConnected(account(), async () => {
      attempts += 1;
      throw new Error("connect ECONNREFUSED 127.0.0.1:6667");
    });
    expect(statuses.at(-1)).toEqual({
      state: "waiting",
      detail: expect.stringMatching(/^connect ECONNREFUSED 127\.0\.0\.1:6667\. The next attempt is in 1 s\.$/),
    });
    await advance(1_200);
    expect(attempts).toBe(2);
    // The two waits take at least 3,000 ms together, and less than 3,600.
    await advance(1_750);
    expect(attempts).toBe(2);
    await advance(650);
    expect(attempts).toBe(3);
    for (let waits = 0; waits < 10; waits += 1) await advance(72_000);
    // A minute at most, whatever came before.
    expect(attempts).toBeGreaterThan(9);
  });

  test("that fails with a question keeps the question mark; a wait just over a second is shown as 1 s", async () => {
    await keepConnected(account(), async () => {
      throw new Error("Bad password?");
    });
    expect(statuses.at(-1)).toEqual({ state: "waiting", detail: "Bad password? The next attempt is in 1 s." });
  });

  test("is restored when it is lost", async () => {
    const [first, second] = [connection(), connection()];
    const all = [first, second];
    await keepConnected(account(), async () => (all.shift() ?? connection()).live);
    first.lose(new Error("read ECONNRESET"));
    await advance(0);
    expect(statuses.at(-1)).toMatchObject({ state: "waiting", detail: expect.stringContaining("read ECONNRESET.") });
    await advance(1_200);
    expect(states()).toEqual(["connecting", "connected", "waiting", "connecting", "connected"]);
  });

  test("that the platform refuses for good rejects start with the platform's message", async () => {
    const refused = keepConnected(account(), async () => {
      throw new ChannelError("unauthorized", { detail: "The server refuses the password", hint: "Correct it." });
    });
    await expect(refused).rejects.toThrow("The server refuses the password");
    expect(states()).toEqual(["connecting"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that is refused for good later is reported as failed and not retried", async () => {
    const first = connection();
    const answers = [first.live];
    await keepConnected(account(), async () => {
      const live = answers.shift();
      if (live === undefined)
        throw new ChannelError("unauthorized", { detail: "The password has changed", hint: "Correct it." });
      return live;
    });
    first.lose();
    await advance(2_000);
    expect(statuses.at(-1)).toEqual({
      state: "failed",
      code: "unauthorized",
      detail: "The password has changed",
      hint: "Correct it.",
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("waits as long as the platform asks", async () => {
    let attempts = 0;
    await keepConnected(account(), async () => {
      attempts += 1;
      throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 90_000 });
    });
    await advance(89_000);
    expect(attempts).toBe(1);
    await advance(2_000);
    expect(attempts).toBe(2);
  });

  test("uses its own delay if the platform's cannot be read", async () => {
    let attempts = 0;
    await keepConnected(account(), async () => {
      attempts += 1;
      throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: Number("Thu, 01 Jan 2026 00:00:00 GMT") });
    });
    expect(statuses.at(-1)?.detail).toMatch(/The next attempt is in 1 s\.$/);
    await advance(900);
    expect(attempts).toBe(1);
    await advance(300);
    expect(attempts).toBe(2);
  });

  test("that takes too long is abandoned, and its signal is aborted", async () => {
    let given: AbortSignal | undefined;
    const starting = keepConnected(
      account(),
      (signal) => {
        given = signal;
        return new Promise(() => {});
      },
      { timeoutMs: 5_000 },
    );
    await advance(5_000);
    await starting;
    expect(given?.aborted).toBe(true);
    expect(statuses.at(-1)?.detail).toMatch(/^The platform did not let the bot in within 5 s\./);
  });

  test("that arrives too late or while the account closes is dropped without an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const late = Promise.withResolvers<LiveConnection>();
    const losses = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
    const starting = keepConnected(account(), () => late.promise, { timeoutMs: 1_000 });
    await advance(1_000);
    await starting;
    const closing = Promise.withResolvers<LiveConnection>();
    const other = new AbortController();
    const second = keepConnected({ ...account(), signal: other.signal }, () => closing.promise);
    other.abort();
    for (const [index, connecting] of [late, closing].entries())
      connecting.resolve({ lost: losses[index]?.promise as Promise<never> });
    await second;
    for (const { reject } of losses) reject(new Error("read ECONNRESET"));
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("is reported together with a note for the operator", async () => {
    await keepConnected(account(), async () => ({ ...connection().live, detail: "The room #hall is locked." }));
    expect(statuses.at(-1)).toMatchObject({ state: "connected", detail: "The room #hall is locked." });
  });

  test("leaves no timer and reports nothing more when the account closes", async () => {
    await keepConnected(account(), async () => {
      throw new Error("away");
    });
    const before = statuses.length;
    closing.abort();
    await advance(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(statuses.length).toBe(before);
  });
});

describe("a token bucket", () => {
  const never = new AbortController().signal;

  test("passes a burst at once, then one call per interval, in order", async () => {
    const bucket = createTokenBucket({ burst: 3, everyMs: 2_000, now: () => clock });
    const order: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const wait = bucket.take(never);
      expect(wait === undefined).toBe(index < 3);
      void wait?.then(() => order.push(index));
    }
    await advance(1_999);
    expect(order).toEqual([]);
    await advance(1);
    expect(order).toEqual([3]);
    await advance(4_000);
    expect(order).toEqual([3, 4, 5]);
  });

  test("is full again after a pause, and never more than full", async () => {
    const bucket = createTokenBucket({ burst: 2, everyMs: 1_000, now: () => clock });
    void bucket.take(never);
    void bucket.take(never);
    await advance(60_000);
    expect([bucket.take(never), bucket.take(never)]).toEqual([undefined, undefined]);
    expect(bucket.take(never)).toBeInstanceOf(Promise);
  });

  test("continues when the clock is set back", async () => {
    const bucket = createTokenBucket({ burst: 1, everyMs: 1_000, now: () => clock });
    void bucket.take(never);
    clock -= 3_600_000;
    let passed = false;
    void bucket.take(never)?.then(() => {
      passed = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(passed).toBe(true);
  });

  test("ends the wait when the signal aborts", async () => {
    const bucket = createTokenBucket({ burst: 1, everyMs: 60_000, now: () => clock });
    const controller = new AbortController();
    void bucket.take(controller.signal);
    const wait = bucket.take(controller.signal);
    controller.abort();
    await wait;
    expect(vi.getTimerCount()).toBe(0);
  });
});
