/** Replies made to cost the renderer more than their length. */
import { describe, expect, test } from "vitest";
import { parseMarkdown } from "../../../plugins/botchat/markdown.ts";
import { costOf } from "../../support/cost.ts";

const parts = [
  "|",
  "||",
  "||a",
  "**a",
  "*a",
  "_a",
  "~~a",
  "[",
  "![",
  "](",
  "[a](",
  "`",
  "`a",
  "> ",
  "- ",
  "> a\n",
  "- a\n",
  "<a href=",
  "|a",
  "&amp;",
];
const families = new Map(parts.map((part) => [JSON.stringify(part), (length: number) => part.repeat(Math.ceil(length / part.length))]));
families.set('"||" nested', (length) => `${"|".repeat(length / 2)}a${"|".repeat(length / 2)}`);
families.set('"**" nested', (length) => `${"**a ".repeat(length / 8)}${" a**".repeat(length / 8)}`);

const size = 32_768;
/** Below this a ratio says more about the clock than about the work. */
const noise = 20;

async function least(work: () => unknown): Promise<number> {
  let cost = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) cost = Math.min(cost, await costOf(work));
  return cost;
}

describe("the cost of rendering grows with the length of the text", () => {
  test.each([...families])("%s", async (_name, make) => {
    const [once, twice] = [make(size), make(2 * size)];
    parseMarkdown(make(1_024));
    const half = await least(() => parseMarkdown(once));
    const whole = await least(() => parseMarkdown(twice));
    expect(whole).toBeLessThan(400);
    expect(whole).toBeLessThanOrEqual(2.3 * Math.max(half, noise));
  });
});
