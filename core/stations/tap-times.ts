/** When code of plugins ran, for the report of a blocked event loop. Part of the hook table. */
import { isThenable } from "./thenable.ts";

/** A tap that has run, or another call into a plugin. */
export interface TapRun {
  readonly plugin: string;
  /** The hook, or what was called, such as `send of desk:default`. */
  readonly hook: string;
}

/** Runs a call into a plugin that is not a tap, so that the report can name it: also inside of a tap of the core. */
export type TimedCall = <T>(run: TapRun, call: () => T) => T;

interface Waiting {
  readonly tap: TapRun;
}

/** For the report of a blocked event loop. */
export interface RecentTaps {
  /** The longest run of a tap up to its first wait; for this long nothing else ran. */
  readonly longest?: TapRun & { readonly ms: number };
  /** The first tap that ended its wait after a pause of all taps: it may have held the loop, or only have been held up. */
  readonly resumed?: TapRun;
  /** Taps whose answers are waited for. */
  readonly waiting: readonly TapRun[];
}

/** Shorter runs and pauses are not worth a note. */
const noteMs = 250;

/** What the taps of one gateway write down as they run: two readings of the clock for each, and one for each answer that was waited for. */
export class TapTimes {
  readonly waiting = new Set<Waiting>();
  #longest: RecentTaps["longest"];
  #resumed: TapRun | undefined;
  #lastMark = 0;
  /** Long calls since the last report: a tap that made one did not hold the event loop for that time itself. */
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
