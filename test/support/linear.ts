/** Work that must cost in proportion to the length of a text. */
import { expect } from "vitest";
import { costOf, slowness } from "./cost.ts";

/** Below this many milliseconds a ratio says more about the clock than about the work. */
const noise = 20;
const rounds = 8;

/** The work on twice the text costs at most 2.3 times as much, and at most `ceiling` milliseconds of a processor at rest. */
export async function expectLinear(
  work: (text: string) => unknown,
  make: (length: number) => string,
  { size, ceiling }: { readonly size: number; readonly ceiling: number },
): Promise<void> {
  const [once, twice] = [make(size), make(2 * size)];
  work(make(1_000));
  let half = Number.POSITIVE_INFINITY;
  let whole = Number.POSITIVE_INFINITY;
  // Each text in turn: what else the machine does then spoils both, or neither.
  for (let round = 0; round < rounds; round += 1) {
    whole = Math.min(whole, await costOf(() => work(twice)));
    if (whole <= Math.min(ceiling, 2.3 * noise)) return;
    half = Math.min(half, await costOf(() => work(once)));
    if (round > 0 && whole <= ceiling && whole <= 2.3 * half) return;
  }
  expect(whole).toBeLessThanOrEqual(ceiling * (await slowness()));
  expect(whole).toBeLessThanOrEqual(2.3 * Math.max(half, noise));
}
