/** Replies made to cost more than their length, in the markups that are measured while they are divided. */
import { describe, expect, test } from "vitest";
import { type MarkupOptions, renderMarkdown } from "../../../../core/sdk/markup/render.ts";
import { leastCostOf, slowness } from "../../../support/cost.ts";
import { hostileFamilies } from "../../../support/hostile-texts.ts";

const options: readonly MarkupOptions[] = [
  { dialect: "mrkdwn", limit: 4_000 },
  { dialect: "discord", limit: 2_000 },
  { dialect: "matrix", limit: 30_000 },
  { dialect: "markdown", limit: 16_000 },
];

// Every sixth family: each is rendered in several dialects.
const families = hostileFamilies.filter((_, index) => index % 6 === 3).map(({ name, make }) => [name, make] as const);

describe.each(options)("in $dialect, a reply of 200,000 characters blocks other work for at most 150 ms", (dialect) => {
  test.each(families)("%s", async (_name, make) => {
    const text = make(200_000);
    const most = 150 * (await slowness());
    expect(await leastCostOf(() => renderMarkdown(text, dialect), { below: most })).toBeLessThan(most);
  });
});
