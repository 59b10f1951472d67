/** Waits for what a channel reports of an outage. It may look at its platform once a minute, so the time is played. */
import { realWait } from "../host/played-clock.ts";
import type { Bench } from "./bench.ts";

/** Longer than any platform that is well makes a bot wait. */
const longestMs = 600_000;
const stepMs = 5_000;

/** Plays up to ten minutes, then waits; throws the sentence if the channel has not reported it by then. */
export async function reportsWithinMinutes(
  { clock, until }: Bench,
  isReported: () => boolean,
  sentence: () => string,
): Promise<void> {
  for (let playedMs = 0; playedMs < longestMs; playedMs += stepMs) {
    if (isReported()) return;
    await clock.advance(stepMs);
    // Answers of the platform come in real time.
    await realWait(5);
  }
  await until(isReported, sentence);
}

/** The platform has gone away: waits until the status says so. */
export async function losesContact(bench: Bench): Promise<void> {
  await reportsWithinMinutes(
    bench,
    () => bench.test.statuses.at(-1)?.state !== "connected",
    () => "The platform became unavailable, but the status is still connected. Report waiting with a reason.",
  );
}
