/** Messages of people made to cost more than their length. */
import { expect, test } from "vitest";
import { entitiesToMarkdown } from "../../../plugins/botchat/intake/entities.ts";
import { leastCostOf, slowness } from "../../support/cost.ts";
import { expectLinear } from "../../support/linear.ts";

const styles = ["bold", "italic", "underline", "strikethrough", "spoiler"];
const over = (text: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    type: styles[index % styles.length] ?? "",
    offset: index,
    length: text.length - index,
  }));

test("five styles over one-letter lines cost as much as their length", async () => {
  await expectLinear(
    (text) => entitiesToMarkdown(text, over(text, styles.length)),
    (length) => "a\n".repeat(length / 2),
    { size: 20_000, times: 20 },
  );
});

test("a hundred nested styles cost no more than one of each type", async () => {
  const text = "a\n".repeat(2_048);
  const marked = () => entitiesToMarkdown(text, over(text, 100));
  expect(marked()).toBe(entitiesToMarkdown(text, over(text, styles.length)));
  const most = 60 * (await slowness());
  expect(await leastCostOf(marked, { below: most })).toBeLessThan(most);
});
