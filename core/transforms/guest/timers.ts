/** Timers. The host waits, and the function remains here. A timer ends with the call that set it. */
import { ask } from "./bridge.ts";

interface Timer {
  readonly run: () => void;
  readonly every: number | undefined;
}

const timers = new Map<number, Timer>();
let last = 0;

function start(run: unknown, ms: unknown, values: readonly unknown[], repeats: boolean): number {
  if (typeof run !== "function") throw new TypeError("The first argument of a timer must be a function");
  const delay = Math.min(Math.max(Number(ms) || 0, 1), 2 ** 31 - 1);
  last += 1;
  timers.set(last, { run: () => run(...values), every: repeats ? delay : undefined });
  ask("timer", last, delay);
  return last;
}

export const setTimeout = (run: unknown, ms?: unknown, ...values: readonly unknown[]): number =>
  start(run, ms, values, false);
export const setInterval = (run: unknown, ms?: unknown, ...values: readonly unknown[]): number =>
  start(run, ms, values, true);

export function clear(id: unknown): void {
  if (typeof id === "number" && timers.delete(id)) ask("clear", id);
}

/** Called by the host when a timer is due. */
export function fire(id: number): void {
  const timer = timers.get(id);
  if (timer === undefined) return;
  if (timer.every === undefined) timers.delete(id);
  else ask("timer", id, timer.every);
  timer.run();
}

/** Called by the host for a timer that its call left behind. */
export function forget(id: number): void {
  timers.delete(id);
}
