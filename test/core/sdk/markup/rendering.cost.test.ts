/** Replies made to cost more than their length, on their whole way to the messages of the platform. */
import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../../../core/sdk/markup/render.ts";
import { leastCostOf, slowness } from "../../../support/cost.ts";
import { hostileFamilies } from "../../../support/hostile-texts.ts";
import { expectLinear } from "../../../support/linear.ts";

const families = hostileFamilies.map(({ name, make }) => [name, make] as const);
const settings = { dialect: "html", limit: 4_000, mode: "newline" } as const;

const render = (text: string) => renderMarkdown(text, settings);

describe("the cost of a reply grows linearly with its length", () => {
  test.each(families)("%s", async (_name, make) => {
    await expectLinear(render, make, { size: 12_000, times: 45 });
  });
});

describe("a reply of 200,000 characters blocks other work for at most 100 ms", () => {
  test.each(families)("%s", async (_name, make) => {
    const text = make(200_000);
    const most = 100 * (await slowness());
    expect(await leastCostOf(() => render(text), { below: most })).toBeLessThan(most);
  });
});
