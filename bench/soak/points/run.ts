/** Crashes at every point, with many seeds, and reports the result. */
import { openPlaces, type StoreName } from "../places.ts";
import { createRandom } from "../random.ts";
import { points } from "./aim.ts";
import { crashAtEach } from "./crash.ts";
import type { Verdict } from "./judge.ts";

/** This many gateways run at the same time. */
const atOnce = 3;
const withinMs = 30_000;

/** Resolves with the number of violated rules. */
export async function runPoints(options: {
  readonly seeds: number;
  readonly first: number;
  readonly store: StoreName;
}): Promise<number> {
  const { seeds, first, store } = options;
  console.log(`soak: ${points.length} crash points, ${seeds} seeds from ${first}, on ${store}`);
  const places = await openPlaces(store);
  const began = performance.now();
  const verdicts: Verdict[] = [];
  let next = first;
  const work = async () => {
    while (next < first + seeds) {
      const seed = next;
      next += 1;
      const random = createRandom(seed);
      const shuffled = [...points].map((point) => ({ point, place: random.next() })).sort((a, b) => a.place - b.place);
      const verdict = await crashAtEach({
        points: shuffled.map(({ point }) => point),
        random,
        name: `s${seed}`,
        withinMs,
        place: places.of,
      });
      verdicts.push(verdict);
      for (const violation of verdict.violations) console.log(`FAIL ${violation}`);
      if (verdicts.length % 5 === 0 || verdicts.length === seeds)
        console.log(`${verdicts.length} of ${seeds} seeds, ${Math.round((performance.now() - began) / 1_000)} s`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, seeds) }, work));
  await places.close({ keep: false });
  const count = (of: (verdict: Verdict) => number) => verdicts.reduce((all, verdict) => all + of(verdict), 0);
  console.log(
    `${verdicts.length * points.length} crashes; ambiguous: ${count(({ repeated }) => repeated)} messages ` +
      `that are there twice, ${count(({ stray }) => stray)} previews that stayed`,
  );
  const broken = count(({ violations }) => violations.length);
  console.log(broken === 0 ? "1 passed, 0 failed" : `0 passed, 1 failed: ${broken} violations`);
  return broken;
}
