/** How much of a text is read as Markdown, and that every reader of the tree can descend into what it gets. */
import { describe, expect, test } from "vitest";
import { boundMarkdown } from "../../../core/sdk/markup/bound-markdown.ts";
import { parseMarkdown } from "../../../core/sdk/text/markdown-tree.ts";
import { plainText } from "../../../core/sdk/text/plain-text.ts";
import { leastCostOf, slowness } from "../../support/cost.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";

const everyday =
  "## A heading\n\nA line with **bold**, `code` and [a link](https://example.com/a).\n\n- one item\n- another item\n\n";

test("an ordinary reply of 29,000 characters is parsed as Markdown as a whole, and so is prose of any length", () => {
  const reply = everyday.repeat(275);
  expect(reply.length).toBeGreaterThan(29_000);
  expect(boundMarkdown(reply)).toEqual({ markdown: reply, rest: "" });
  const prose = "Words without a mark, and more of them ".repeat(10_000);
  expect(boundMarkdown(prose).rest).toBe("");
});

test("the rest begins at a line, or inside an endless line, and no text is lost", () => {
  const table = `|a|b|\n|-|-|\n${"|c|d|\n".repeat(50_000)}`;
  const bound = boundMarkdown(table);
  expect(bound.markdown + bound.rest).toBe(table);
  expect(bound.rest.startsWith("|c|d|\n")).toBe(true);
  expect(bound.markdown.endsWith("\n")).toBe(true);
  const line = "**a".repeat(20_000);
  // One paragraph, in which no parser can be interrupted.
  expect(boundMarkdown(line).markdown).toHaveLength(6_000);
  expect(boundMarkdown("**a".repeat(2_000)).rest).toBe("");
});

test("a long code block and the text after it are parsed completely", () => {
  const code = `Look:\n\n\`\`\`json\n${'  { "a": [1, 2], "b": {} },\n'.repeat(400)}\`\`\`\n\nThat is **all**.\n`;
  expect(boundMarkdown(code)).toEqual({ markdown: code, rest: "" });
});

test("the cut stays in place while a text grows", () => {
  const text = everyday.repeat(1_000);
  const { markdown } = boundMarkdown(text);
  for (let length = markdown.length + 2_000; length < text.length; length += 777)
    expect(boundMarkdown(text.slice(0, length)).markdown).toBe(markdown);
});

test("the rest of a reply is plain text as written", () => {
  const blocks = parseMarkdown(`${"**a** ".repeat(5_000)}\n\n**b** is <b>bold</b>`);
  expect(blocks.at(-1)).toMatchObject({ type: "paragraph" });
  expect(plainText(`${"**a** ".repeat(5_000)}\n\n**b** is <b>bold</b>`)).toContain("\n**b** is <b>bold</b>");
});

test("thousands of nested styles produce a tree of limited depth", () => {
  const depth = 1_900;
  const text = `${"**a ".repeat(depth)}middle${" b**".repeat(depth)}`;
  expect(plainText(text)).toContain("middle");
  let deepest = 0;
  const descend = (value: unknown, depth: number): void => {
    deepest = Math.max(deepest, depth);
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) descend(inner, depth + 1);
  };
  descend(parseMarkdown(text), 0);
  expect(deepest).toBeLessThan(200);
});

describe("a hostile text of 200,000 characters is rendered as plain text within 100 ms of work", () => {
  test.each(hostileFamilies.map(({ name, make }) => [name, make] as const))("%s", async (_, make) => {
    const text = make(200_000);
    const most = 100 * (await slowness());
    expect(await leastCostOf(() => plainText(text), { below: most })).toBeLessThan(most);
  });
});
