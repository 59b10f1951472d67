/** How long another channel waits for its answers while a plugin in a worker misbehaves. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fault, faults, openRoom, type Room } from "./room.ts";

/** These end no worker, so one channel does for all of them. */
const harmless = ["rejection", "throw in parse", "hang in send"];
/** These take no time of a processor, and are set off at once. */
const brief = ["uncaught", "exit", "exit in parse", ...harmless];
/** These keep a processor busy, so each is set off by itself. They end the worker. */
const busy = ["busy loop", "memory", "buffers"];
const tried = [brief, ...busy.map((fault) => [fault])];
/** Each other has a channel of its own, so that none waits for the worker that another one has ended. */
const channelOf = (fault: string) => (harmless.includes(fault) ? "harmless" : fault.replaceAll(" ", "-"));
/**
 * These end the worker, for this reason. The others have had their effect at once. On a busy machine heartbeats may be
 * missed before the heap is full.
 */
const ending = new Map([
  ["uncaught", /thrown by a timer/],
  ["exit", /exit code 3/],
  ["exit in parse", /exit code 4/],
  ["busy loop", /did not answer for 5 s/],
  ["memory", /more than 512 MB of memory|did not answer for 5 s/],
  ["buffers", /more than 512 MB of buffers/],
]);
const leastWatchedMs = 1_000;
const mostDelayMs = 100;
const warmUp = 30;
const mostRounds = 5;

const atEnd: (() => void | Promise<void>)[] = [];
let room: Room;
/** The slowest answer while nothing misbehaves. Measured once for all faults, and again where a round is repeated. */
let usual: number | undefined;

/** Milliseconds of whole round trips through the gateway, one after the other, until the promise is fulfilled. */
async function timesUntil(over: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  let isOver = false;
  const watched = over.finally(() => {
    isOver = true;
  });
  for (; !isOver; await sleep(20)) {
    const begun = performance.now();
    expect(await room.say("steady", "hello")).toContain("hello");
    times.push(performance.now() - begun);
  }
  await watched;
  return times;
}

/** Resolves when the worker of a channel has ended for a reason so many times, and is up again. */
async function replaced(channel: string, reason: RegExp, times: number): Promise<void> {
  await room.gateway.until(
    new RegExp(`(?:"plugin":"${channel}"[^\\n]*(?:${reason.source})[^\\n]*is up again[\\s\\S]*?){${times}}`),
  );
}

beforeAll(async () => {
  room = await openRoom("worker", {
    faulty: [...new Set(tried.flat().map(channelOf))],
    atEnd: (fn) => void atEnd.push(fn),
  });
  for (let count = 0; count < warmUp; count += 1) await room.say("steady", "hello");
});
afterAll(async () => {
  for (const fn of atEnd.reverse()) await fn();
});

/** How often each fault was set off: a test that is repeated waits for the end that it has caused itself. */
const counts = new Map<string, number>();

/** Sets a fault off. Resolves when its worker is up again, or at once where it does not end. */
async function misbehave(fault: string): Promise<void> {
  const channel = channelOf(fault);
  const times = (counts.get(fault) ?? 0) + 1;
  counts.set(fault, times);
  void (fault in faults ? room.setOff(fault as Fault, channel) : room.say(channel, fault).catch(() => {}));
  const reason = ending.get(fault);
  if (reason !== undefined) await replaced(channel, reason, times);
}

test.each(tried.map((set) => [set.join(", "), set] as const))(
  "%s in a worker: replies of other channels are delayed by no more than 100 ms",
  async (name, set) => {
    const rounds: string[] = [];
    // What else the machine does may spoil a round; a gateway that is held up is so in each of them.
    while (rounds.length < mostRounds) {
      for (const fault of set) await room.replies(channelOf(fault));
      usual ??= Math.max(...(await timesUntil(sleep(1_500))));
      const before = usual;
      const over = set.map(misbehave);
      const during = Math.max(...(await timesUntil(Promise.all([sleep(leastWatchedMs), ...over]))));
      rounds.push(`slowest ${during.toFixed(0)} ms, without it ${before.toFixed(0)} ms`);
      if (during - before < mostDelayMs) {
        console.info(`${name}: ${rounds.join("; ")}`);
        return;
      }
      usual = undefined;
    }
    expect.fail(`no round without a delay: ${rounds.join("; ")}`);
  },
);
