/**
 * A clock that a test controls: the time that the gateway and its plugins read, and the timers of this process.
 *
 * Timers remain Node's timers, so a test that only waits needs nothing special. `advance` runs the timers due within
 * the given time, at once and in order. All test hosts of a process share one clock, because there is one `setTimeout`.
 */

type Callback = (...values: readonly unknown[]) => void;

interface Entry {
  /** Simulated time at which it falls due. */
  due: number;
  /** Milliseconds between two runs; absent if it runs once. */
  readonly every?: number;
  readonly run: () => void;
  /**
   * It has run while the clock moved, so its real time means nothing unless it is refreshed. `ref`: it kept the process
   * alive.
   */
  played?: { readonly ref: boolean } | undefined;
  /** A time limit of `AbortSignal.timeout`: it ends on its own, and keeps nothing alive. */
  readonly isLimit?: true;
}

export interface PlayedClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Runs the timers due within `ms`, in order. After each timer, all ready work runs first. */
  advance(ms: number): Promise<void>;
  /**
   * Waits for the end of `work`, and meanwhile plays up to `ms`, slowly enough for what is under way over the network.
   */
  playUntil<T>(work: Promise<T>, ms: number): Promise<T>;
  /** The pending timers of this process, including those that do not keep it alive, but no time limits of signals. */
  timers(): ReadonlySet<NodeJS.Timeout>;
  /** Restores Node's timers, once every host has released the clock. */
  release(): void;
}

/** Limits the runs of an interval in one `advance`: a day has too many seconds to simulate each. */
const mostRuns = 1_000;

const real = {
  now: Date.now,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  timeout: AbortSignal.timeout,
};

/** Waits in real time. */
export function realWait(ms: number): Promise<void> {
  return new Promise((resolve) => void real.setTimeout(resolve, ms));
}

/** Calls whose answers come from elsewhere, such as those of a database. Ready work runs until there are none. */
export const callsUnderWay = new Set<Promise<unknown>>();

/** Lets all ready work run. */
async function yieldToLoop(): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => void real.setImmediate(resolve));
    if (callsUnderWay.size === 0) return;
    await Promise.allSettled(callsUnderWay);
  }
}

const entries = new Map<NodeJS.Timeout, Entry>();
let offsetMs = 0;
let users = 0;

const now = () => real.now() + offsetMs;

/** The delay as Node interprets it: 1 ms if it is too short, too long or not a number. */
function delayOf(ms: unknown): number {
  const delay = Number(ms);
  return delay >= 1 && delay <= 2_147_483_647 ? Math.trunc(delay) : 1;
}

function start(
  kind: "once" | "repeated" | "limit",
  run: Callback,
  ms: unknown,
  values: readonly unknown[],
): NodeJS.Timeout {
  const delay = delayOf(ms);
  const kinds = { ...(kind === "repeated" && { every: delay }), ...(kind === "limit" && { isLimit: true as const }) };
  const entry: Entry = { due: now() + delay, ...kinds, run: () => run(...values) };
  const fire = () => {
    if (entry.played !== undefined) return;
    if (kind !== "repeated") entries.delete(handle);
    else entry.due = now() + delay;
    entry.run();
  };
  const handle: NodeJS.Timeout = kind === "repeated" ? real.setInterval(fire, delay) : real.setTimeout(fire, delay);
  entries.set(handle, entry);
  const { refresh, close } = handle;
  handle.refresh = () => {
    entry.due = now() + delay;
    if (kind !== "repeated") entries.set(handle, entry);
    if (entry.played?.ref === true) handle.ref();
    entry.played = undefined;
    return refresh.call(handle);
  };
  handle.close = () => {
    entries.delete(handle);
    return close.call(handle);
  };
  handle[Symbol.dispose] = () => void handle.close();
  return handle;
}

/**
 * A timer that was cleared could not be refreshed any more, as undici refreshes the one with which it counts its time
 * limits.
 */
function setAside(handle: NodeJS.Timeout, entry: Entry): void {
  entries.delete(handle);
  entry.played = { ref: handle.hasRef() };
  handle.unref();
}

/** Timers may also be stopped by their number. */
function stop(handle: unknown): void {
  const found = entries.has(handle as NodeJS.Timeout)
    ? (handle as NodeJS.Timeout)
    : [...entries.keys()].find((one) => typeof handle !== "object" && Number(one) === Number(handle));
  if (found !== undefined) entries.delete(found);
  real.clearTimeout(handle as NodeJS.Timeout);
}

function install(): void {
  const once = (run: Callback, ms?: unknown, ...values: readonly unknown[]) => start("once", run, ms, values);
  const repeated = (run: Callback, ms?: unknown, ...values: readonly unknown[]) => start("repeated", run, ms, values);
  // `util.promisify` and `node:timers/promises` have entry points of their own, and keep real time.
  const timers = {
    setTimeout: Object.defineProperties(once, Object.getOwnPropertyDescriptors(real.setTimeout)),
    setInterval: repeated,
    clearTimeout: stop,
    clearInterval: stop,
  };
  Object.assign(globalThis, timers);
  AbortSignal.timeout = limit;
}

/** As `AbortSignal.timeout`. */
function limit(ms: number): AbortSignal {
  const controller = new AbortController();
  start(
    "limit",
    () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    ms,
    [],
  ).unref();
  return controller.signal;
}

function uninstall(): void {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = real;
  Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
  AbortSignal.timeout = real.timeout;
  entries.clear();
  offsetMs = 0;
}

function nextDue(until: number): readonly [NodeJS.Timeout, Entry] | undefined {
  let next: readonly [NodeJS.Timeout, Entry] | undefined;
  for (const one of entries) if (one[1].due <= until && (next === undefined || one[1].due < next[1].due)) next = one;
  return next;
}

/** Rethrown as an uncaught exception, because an error in a timer ends a real program too. */
function runTimer({ run }: Entry): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

async function advance(ms: number): Promise<void> {
  const until = now() + ms;
  const runs = new Map<Entry, number>();
  for (let next = nextDue(until); next !== undefined; next = nextDue(until)) {
    const [handle, entry] = next;
    offsetMs += Math.max(0, entry.due - now());
    if (entry.every === undefined) setAside(handle, entry);
    else {
      const count = (runs.get(entry) ?? 0) + 1;
      runs.set(entry, count);
      entry.due = count < mostRuns ? entry.due + entry.every : until + entry.every;
    }
    runTimer(entry);
    await yieldToLoop();
  }
  offsetMs += Math.max(0, until - now());
}

const stepMs = 100;

async function playUntil<T>(work: Promise<T>, ms: number): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  await realWait(10);
  for (let left = ms; left > 0 && !isOver; left -= stepMs) {
    await advance(Math.min(left, stepMs));
    await realWait(5);
  }
  return await work;
}

/** Takes over the timers of this process. The simulated time starts at the real time. */
export function usePlayedClock(): PlayedClock {
  users += 1;
  if (users === 1) install();
  let released = false;
  return {
    now,
    elapsed: () => performance.now() + offsetMs,
    advance,
    playUntil,
    timers: () => new Set([...entries].filter(([, { isLimit }]) => isLimit !== true).map(([timer]) => timer)),
    release() {
      if (released) return;
      released = true;
      users -= 1;
      if (users === 0) uninstall();
    },
  };
}
