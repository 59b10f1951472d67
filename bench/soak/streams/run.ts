/** Streams of 1 to 50,000 characters at 1 to 500 tokens a second, at these rates on a simulated clock. */
import { startClock } from "./clock.ts";
import { type ChatCall, doubtfulSends, judge } from "./judge.ts";
import { runStream } from "./stream.ts";

/** Resolves with the number of violated rules. */
export async function runStreams({
  count,
  first,
}: {
  readonly count: number;
  readonly first: number;
}): Promise<number> {
  console.log(`soak: ${count} streams, seeds from ${first}`);
  const began = performance.now();
  const clock = startClock();
  const fates = new Map<ChatCall["fate"], number>();
  let [broken, hours, calls, doubtful, twice] = [0, 0, 0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    const { stream, outcome } = await runStream(seed, clock);
    for (const violation of judge(outcome)) {
      broken += 1;
      console.log(
        `FAIL seed ${seed} (${stream.text.length} characters, ${stream.tokensPerSecond} tokens a second): ${violation}`,
      );
    }
    for (const { fate } of outcome.calls) fates.set(fate, (fates.get(fate) ?? 0) + 1);
    hours += outcome.tookMs / 3_600_000;
    calls += outcome.calls.length;
    doubtful += doubtfulSends(outcome.calls);
    twice += Math.max(0, outcome.shown.length - outcome.wanted.length);
    const done = seed - first + 1;
    if (done % 25 === 0 || done === count)
      console.log(`${done} of ${count} streams, ${Math.round((performance.now() - began) / 1_000)} s`);
  }
  clock.end();
  console.log(
    `${hours.toFixed(1)} hours of streams, ${calls} calls ` +
      `(${[...fates].map(([fate, number]) => `${number} ${fate}`).join(", ")}); ambiguous: ${doubtful} ` +
      `messages of unknown fate, ${twice} that stayed`,
  );
  console.log(broken === 0 ? "1 passed, 0 failed" : `0 passed, 1 failed: ${broken} violations`);
  return broken;
}
