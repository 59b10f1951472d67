/** When taps ran, for the report of a blocked event loop. Part of the hook table. */

/** A tap that has run. */
export interface TapRun {
  readonly plugin: string;
  readonly hook: string;
}

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

  ran({ plugin, hook }: TapRun, begun: number): void {
    const now = performance.now();
    this.#lastMark = now;
    const ms = now - begun;
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
    const waiting = [...this.waiting].map(({ tap: { plugin, hook } }) => ({ plugin, hook }));
    return { ...(longest && { longest }), ...(resumed && { resumed }), waiting };
  }
}
