/**
 * Looks in the database when a notification asks for it. Notifications may be forged and many, so looks are bounded.
 */

/** Between two looks. It doubles while they find nothing, because then another role sends the notifications. */
const shortestMs = 20;
const longestMs = 320;

export interface Look {
  /** Looks soon: at once if the last look is long ago. Any number of calls meanwhile causes one look. */
  ask(): void;
  end(): void;
}

/** `look` resolves with whether there was something. One that fails has found nothing: a poll follows it anyway. */
export function createLook(look: () => Promise<boolean>): Look {
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isAsked = false;
  let hasEnded = false;
  let pauseMs = shortestMs;
  let endedAt = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    timer = undefined;
    isRunning = true;
    isAsked = false;
    const found = await look().catch(() => false);
    isRunning = false;
    const now = performance.now();
    pauseMs = found || now - endedAt > 2 * longestMs ? shortestMs : Math.min(2 * pauseMs, longestMs);
    endedAt = now;
    if (isAsked) plan();
  }

  function plan(): void {
    if (hasEnded) return;
    timer = setTimeout(() => void run(), Math.max(0, endedAt + pauseMs - performance.now())).unref();
  }

  return {
    ask() {
      if (isAsked) return;
      isAsked = true;
      if (!isRunning && timer === undefined) plan();
    },
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}
