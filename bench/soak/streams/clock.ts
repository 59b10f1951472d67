/** A clock that is advanced by the test: an hour of a slow stream takes a second. Only waiting is simulated. */
import { mock } from "node:test";

export interface Clock {
  /** Lets time pass, one timer after the other, each with everything that follows from it. */
  pass(ms: number): Promise<void>;
  /** Restores the real timers. */
  end(): void;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

export function startClock(): Clock {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const played = globalThis.setTimeout;
  /** Due times of timers. Cleared timers are still listed, and cost a check. */
  const due: number[] = [];
  globalThis.setTimeout = Object.assign((run: () => void, ms = 0, ...args: unknown[]) => {
    due.push(Date.now() + ms);
    return played(run, ms, ...(args as []));
  }, played) as typeof setTimeout;
  return {
    async pass(ms) {
      const end = Date.now() + ms;
      await settled();
      while (Date.now() < end) {
        const next = Math.min(end, ...due);
        mock.timers.tick(Math.max(0, next - Date.now()));
        for (let at = due.length - 1; at >= 0; at -= 1) if ((due[at] ?? 0) <= next) due.splice(at, 1);
        await settled();
      }
    },
    end() {
      globalThis.setTimeout = played;
      mock.timers.reset();
    },
  };
}
