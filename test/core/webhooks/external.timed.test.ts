/** Texts made to cost the scan more than their length. */
import { describe, expect, test } from "vitest";
import { defuseExternal, findInjection } from "../../../core/webhooks/external.ts";
import { costOf } from "../../support/cost.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";

const size = 65_536;
/** Below this a ratio says more about the clock than about the work. */
const noise = 20;
const scan = (text: string) => [findInjection(text), defuseExternal(text)];

async function least(work: () => unknown): Promise<number> {
  let cost = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) cost = Math.min(cost, await costOf(work));
  return cost;
}

describe("the cost of the scan grows with the length of the text", () => {
  test.each(hostileFamilies.map(({ name, make }) => [name, make] as const))("%s", async (_name, make) => {
    const [once, twice] = [make(size), make(2 * size)];
    scan(make(1_024));
    const half = await least(() => scan(once));
    const whole = await least(() => scan(twice));
    expect(whole).toBeLessThan(150);
    expect(whole).toBeLessThanOrEqual(2.3 * Math.max(half, noise));
  });
});
