/**
 * Looks at threads from outside: code that stays in one operation of its engine does not come to the engine's own check
 * of the time.
 */
import type { Computing } from "./meter.ts";
import type { Thread } from "./thread.ts";

/** How often computing threads are looked at, and how long one may go on after its limit. */
const watchMs = 25;
const graceMs = 40;
/** After this time without a call, threads are not looked at until the next one. */
const restMs = 1_000;

export interface ThreadWatch {
  /** A thread has calls from now on. */
  start(): void;
  end(): void;
}

export function createThreadWatch({
  threads,
  now,
  onLate,
}: {
  readonly threads: ReadonlySet<Thread>;
  readonly now: () => number;
  /** Called for a thread whose code computes for longer than it may. */
  readonly onLate: (thread: Thread, computing: Computing) => void;
}): ThreadWatch {
  let timer: NodeJS.Timeout | undefined;
  let usedAt = Number.NEGATIVE_INFINITY;

  const end = () => {
    clearInterval(timer);
    timer = undefined;
  };

  function look(): void {
    for (const thread of threads) {
      if (thread.sent.size > 0) usedAt = now();
      const computing = thread.overLimit(graceMs);
      if (computing !== undefined) onLate(thread, computing);
    }
    if (now() - usedAt >= restMs) end();
  }

  return {
    start() {
      timer ??= setInterval(look, watchMs).unref();
    },
    end,
  };
}
