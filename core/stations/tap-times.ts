/** Records when plugin code ran, for the report of a blocked event loop. */
import { isThenable } from "./thenable.ts";

/** A tap or another call into a plugin. */
export interface TapRun {
  readonly plugin: string;
  /** The hook, or what was called, such as `send of desk:default`. */
  readonly hook: string;
}

/** Runs a call into a plugin that is not a tap, even inside a core tap, so that the report can name it. */
export type TimedCall = <T>(run: TapRun, call: () => T) => T;

interface Waiting {
  readonly tap: TapRun;
}

/** The taps that may have blocked the event loop. */
export interface RecentTaps {
  /** The tap with the longest synchronous run. Nothing else ran during that time. */
  readonly longest?: TapRun & { readonly ms: number };
  /** The first tap to resume after no tap ran for a while. It may have blocked the loop, or only been delayed. */
  readonly resumed?: TapRun;
  /** Taps whose answers are pending. */
  readonly waiting: readonly TapRun[];
}

/** Shorter runs and pauses are ignored. */
const noteMs = 250;

/** Records the run times of one gateway's taps: two clock readings for each tap, and one for each pending answer. */
export class TapTimes {
  readonly waiting = new Set<Waiting>();
  #longest: RecentTaps["longest"];
  #resumed: TapRun | undefined;
  #lastMark = 0;
  /** Long calls since the last report. Their time is not attributed to the tap that made the call. */
  #calls: { readonly begun: number; readonly ms: number }[] = [];

  ran(run: TapRun, begun: number): void {
    const now = performance.now();
    this.#lastMark = now;
    if (now - begun < noteMs) return;
    const inside = this.#calls.reduce((all, call) => (call.begun >= begun ? all + call.ms : all), 0);
    this.#note(run, now - begun - inside);
  }

  readonly call: TimedCall = (run, call) => {
    const begun = performance.now();
    try {
      const answer = call();
      if (isThenable(answer)) this.#await(run, answer);
      return answer;
    } finally {
      const now = performance.now();
      this.#lastMark = now;
      if (now - begun >= noteMs) {
        this.#calls.push({ begun, ms: now - begun });
        this.#note(run, now - begun);
      }
    }
  };

  #await(run: TapRun, answer: PromiseLike<unknown>): void {
    const pending = { tap: run };
    this.waiting.add(pending);
    const end = () => this.ended(pending);
    answer.then(end, end);
  }

  #note({ plugin, hook }: TapRun, ms: number): void {
    if (ms >= noteMs && ms > (this.#longest?.ms ?? 0)) this.#longest = { plugin, hook, ms };
  }

  ended(pending: Waiting): void {
    this.waiting.delete(pending);
    const now = performance.now();
    if (now - this.#lastMark >= noteMs) this.#resumed ??= { plugin: pending.tap.plugin, hook: pending.tap.hook };
    this.#lastMark = now;
  }

  take(): RecentTaps {
    const longest = this.#longest;
    const resumed = this.#resumed;
    this.#longest = undefined;
    this.#resumed = undefined;
    this.#calls = [];
    const waiting = [...this.waiting].map(({ tap: { plugin, hook } }) => ({ plugin, hook }));
    return { ...(longest && { longest }), ...(resumed && { resumed }), waiting };
  }
}
