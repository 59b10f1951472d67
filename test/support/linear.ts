/** Work that must cost in proportion to the length of a text. */
import { expect } from "vitest";
import { costOf, leastCostOf } from "./cost.ts";

/** Below this many milliseconds a ratio says more about the clock than about the work. */
const noise = 20;
/**
 * From this many milliseconds on, a single round decides: no compiler at work adds as much as would hide work that
 * grows with the square.
 */
const long = 100;
const rounds = 8;

/** What people write: the measure of what a text made to cost more may cost. */
const everyday =
  "## A heading\n\nA line with **bold**, `code` and [a link](https://example.com/a).\n\n- one item\n- another item\n\n";
const least = 5;

type Work = (text: string) => unknown;

/**
 * What each kind of work costs on an everyday text, in milliseconds. Measured where a case needs it, and once for all
 * of its cases.
 */
const usualCosts = new WeakMap<Work, Promise<number>>();

function usualCostOf(work: Work, length: number): Promise<number> {
  const text = everyday.repeat(Math.ceil(length / everyday.length)).slice(0, length);
  // The third time: compiled by then.
  const cost = usualCosts.get(work) ?? leastCostOf(() => work(text), { below: least, rounds: 3 });
  usualCosts.set(work, cost);
  return cost;
}

/**
 * The work on twice the text costs at most 2.3 times as much, and at most `times` what an everyday text of the same
 * length costs. Cases that hand in the same function have the same `size`.
 */
export async function expectLinear(
  work: Work,
  make: (length: number) => string,
  { size, times }: { readonly size: number; readonly times: number },
): Promise<void> {
  const [once, twice] = [make(size), make(2 * size)];
  work(make(1_000));
  let half = Number.POSITIVE_INFINITY;
  let whole = Number.POSITIVE_INFINITY;
  let ceiling = times * least;
  // Each text in turn: what else the machine does then spoils both, or neither.
  for (let round = 0; round < rounds; round += 1) {
    whole = Math.min(whole, await costOf(() => work(twice)));
    if (whole <= Math.min(ceiling, 2.3 * noise)) return;
    if (whole > ceiling) ceiling = times * Math.max(least, await usualCostOf(work, 2 * size));
    half = Math.min(half, await costOf(() => work(once)));
    if ((round > 0 || whole >= long) && whole <= ceiling && whole <= 2.3 * half) return;
  }
  expect(whole).toBeLessThanOrEqual(ceiling);
  expect(whole).toBeLessThanOrEqual(2.3 * Math.max(half, noise));
}
