/** The attempt of one unit: it does not count if the process ends while the unit only waits. */
import type { Store, Unit } from "../../state/index.ts";
import type { CountedAttempt } from "../../stations/index.ts";

/** Shorter waits are not worth two writes. */
const shortWaitMs = 250;

export interface Attempt extends CountedAttempt {
  /**
   * The unit is handed back. Resolves with whether the hand-back has to take the attempt back, so that it does not
   * count.
   */
  close(how: { readonly counts: boolean }): Promise<boolean>;
}

export function createAttempt(
  store: Pick<Store, "setAttempts">,
  { id, attempts }: Pick<Unit, "id" | "attempts">,
): Attempt {
  const doing = { wait: 0, work: 0 };
  /** Attempts so far, with this one. */
  let number = attempts;
  /** What the store knows. */
  let written = attempts;
  let isReturning = false;
  let closed = false;
  let last: Promise<void> | undefined;
  let longWait: NodeJS.Timeout | undefined;

  const wanted = () => ((isReturning || doing.wait > 0) && doing.work === 0 ? number - 1 : number);

  async function write(): Promise<void> {
    const next = wanted();
    if (closed || next === written) return;
    await store.setAttempts(id, next);
    written = next;
  }

  /** One write after the other: each looks at what is being done when its turn comes. */
  function settle(): Promise<void> | undefined {
    if (last === undefined && wanted() === written) return undefined;
    const writing: Promise<void> = (last ?? Promise.resolve()).catch(() => {}).then(write);
    last = writing;
    const done = () => {
      if (last === writing) last = undefined;
    };
    writing.then(done, done);
    return writing;
  }

  function start(what: "wait" | "work"): Promise<void> | undefined {
    doing[what] += 1;
    // A wait that cannot be written counts as an attempt.
    return what === "wait" ? settle()?.catch(() => {}) : settle();
  }

  /** A turn that has come as far as a question that is still open was not what ended the processes before. */
  function beginAnew(): void {
    number = 1;
    void settle()?.catch(() => {});
  }

  return {
    returns() {
      isReturning = true;
      return settle();
    },
    begin(what) {
      isReturning = false;
      if (what === "wait") longWait ??= setTimeout(beginAnew, shortWaitMs);
      return start(what);
    },
    end(what) {
      doing[what] -= 1;
      if (doing.wait === 0) {
        clearTimeout(longWait);
        longWait = undefined;
      }
      return settle();
    },
    async waitFor(waited) {
      let begun: Promise<void> | undefined;
      let isMarked = false;
      const timer = setTimeout(() => {
        isMarked = true;
        begun = start("wait");
      }, shortWaitMs);
      try {
        return await waited;
      } finally {
        clearTimeout(timer);
        if (isMarked) {
          await begun;
          doing.wait -= 1;
          await settle();
        }
      }
    },
    async close({ counts }) {
      closed = true;
      clearTimeout(longWait);
      await last?.catch(() => {});
      if (!counts) return written === number;
      if (written !== number) await store.setAttempts(id, number);
      return false;
    },
  };
}
