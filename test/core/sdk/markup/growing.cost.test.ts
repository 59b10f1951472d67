/** Previews of replies made to cost more than their length: edited again and again while the reply grows. */
import { describe, test } from "vitest";
import { growingMarkdown } from "../../../../core/sdk/markup/render.ts";
import { hostileFamilies } from "../../../support/hostile-texts.ts";
import { expectLinear } from "../../../support/linear.ts";

const families = hostileFamilies.map(({ name, make }) => [name, make] as const);
const settings = { dialect: "html", limit: 4_000, mode: "newline" } as const;

/**
 * The longer text, of 30,000 characters, is longer than what is read at each edit, the shorter one is not: reading all
 * of both costs 3.5 times as much.
 */
const grow = (text: string) => {
  const messagesOf = growingMarkdown(settings);
  for (let length = 5_000; length <= text.length; length += 5_000) messagesOf(text.slice(0, length));
};

// Every fourth family: each costs a dozen renderings.
describe("the cost of a repeatedly edited preview grows linearly with the length of the reply", () => {
  test.each(families.filter((_, index) => index % 4 === 0))("%s", async (_name, make) => {
    await expectLinear(grow, make, { size: 15_000, times: 100 });
  });
});
