import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { leastCostOf } from "../../../support/cost.ts";
import { chunkText, parseMarkdown, renderHtml } from "../../../support/rich-text.ts";
import { parseStrictHtml } from "./html-parser.ts";

const chunks = (markdown: string, limit: number, mode: "length" | "newline" = "length") =>
  chunkText(parseMarkdown(markdown), { limit, mode }).map((chunk) => {
    const html = renderHtml(chunk);
    expect(parseStrictHtml(html).text).toBe(chunk.text);
    expect(chunk.text.length).toBeLessThanOrEqual(limit);
    return html;
  });

describe("splitting a text", () => {
  test("leaves a text that fits as one message, counted in UTF-16 units after entity decoding", () => {
    expect(chunks(`**${"x".repeat(100)}**`, 100)).toHaveLength(1);
    expect(chunks("&lt;".repeat(100), 100)).toHaveLength(1);
    expect(chunks("😀".repeat(50), 100)).toHaveLength(1);
    expect(chunks("😀".repeat(51), 100)).toHaveLength(2);
  });

  test("prefers the end of a paragraph, then of a line, a sentence and a word", () => {
    expect(chunks("one one one\n\ntwo two two", 20)).toEqual(["one one one", "two two two"]);
    expect(chunks("one one one\ntwo two two", 20)).toEqual(["one one one", "two two two"]);
    expect(chunks("One one one. Two two two", 20)).toEqual(["One one one.", "Two two two"]);
    expect(chunks("one one one two two two", 20)).toEqual(["one one one two two", "two"]);
    expect(chunks("x".repeat(45), 20)).toEqual(["x".repeat(20), "x".repeat(20), "x".repeat(5)]);
  });

  test("never happens inside a surrogate pair or a combined character", () => {
    expect(chunks("a😀😀😀", 4)).toEqual(["a😀", "😀😀"]);
    expect(chunks("👩‍👩‍👧👩‍👩‍👧", 10)).toEqual(["👩‍👩‍👧", "👩‍👩‍👧"]);
    expect(chunks("éé".normalize("NFD"), 3).map((each) => each.normalize("NFC"))).toEqual(["é", "é"]);
  });

  test("continues styles, links and quotes in the next message", () => {
    expect(chunks(`**${"word ".repeat(8).trim()}**`, 20)).toEqual([
      "<b>word word word word</b>",
      "<b>word word word word</b>",
    ]);
    expect(chunks(`[${"word ".repeat(8).trim()}](https://x.y)`, 20)[1]).toBe(
      '<a href="https://x.y">word word word word</a>',
    );
    expect(chunks("> one one one\n> two two two", 20)).toEqual([
      "<blockquote>one one one</blockquote>",
      "<blockquote>two two two</blockquote>",
    ]);
  });

  test("keeps the language and indentation of code in each message", () => {
    expect(chunks("```ts\nif (a) {\n    let b = 1;\n}\n```", 16)).toEqual([
      '<pre><code class="language-ts">if (a) {</code></pre>',
      '<pre><code class="language-ts">    let b = 1;\n}</code></pre>',
    ]);
  });

  test("keeps a table whole if one message can contain it", () => {
    const table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |";
    const parts = chunks(`${"before ".repeat(4)}\n\n${table}\n\nafter`, 45);
    expect(parts.filter((part) => part.includes("<pre>"))).toHaveLength(1);
    expect(parts.join("|")).toContain("<pre>a | b\n--+--\n1 | 2\n3 | 4</pre>");
  });

  test("by newline makes a message of each paragraph, however short, but does not divide code", () => {
    expect(chunks("a\n\nb\n\n```\nc\n\nd\n```\n\ne", 100, "newline")).toEqual(["a", "b", "<pre>c\n\nd</pre>", "e"]);
  });

  test("allows a shorter first message, which is never invisible", () => {
    const texts = (markdown: string, mode: "length" | "newline" = "length") =>
      chunkText(parseMarkdown(markdown), { limit: 40, firstLimit: 12, mode }).map(({ text }) => text);
    expect(texts("a caption")).toEqual(["a caption"]);
    expect(texts(`One two. ${"word ".repeat(12).trim()}`)).toEqual([
      "One two.",
      "word word word word word word word word",
      "word word word word",
    ]);
    expect(texts(`\u200b\n\n${"x".repeat(60)}`, "newline")).toEqual(["x".repeat(12), "x".repeat(40), "x".repeat(8)]);
    expect(texts("head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |")).toEqual(["head", "a | b\n--+--\n1 | 2\n3 | 4"]);
  });

  test("limits the styles of a message to what the platform shows, counted as sent", () => {
    const tags = (markdown: string) => chunks(markdown, 4_000).map((html) => html.match(/<[a-z]/g)?.length);
    expect(tags("**b** ".repeat(100))).toEqual([100]);
    expect(tags("**b** ".repeat(250))).toEqual([100, 100, 50]);
    // Bold that goes on behind each piece of code begins anew there.
    const broken = tags(`**${"x `c` ".repeat(60)}x**`);
    expect(broken.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(60 + 61);
    expect(Math.max(...broken.map((count) => count ?? 0))).toBeLessThanOrEqual(100);
    expect(tags(`***~~||${"x `c` ".repeat(100)}x||~~***`).every((count) => (count ?? 0) <= 100)).toBe(true);
    expect(
      tags(`${"word ".repeat(20)}**b**\n\n`.repeat(150)).reduce<number>((sum, count) => sum + (count ?? 0), 0),
    ).toBe(150);
  });

  test("never sends an invisible message", () => {
    expect(chunks("\u200b\n\n&nbsp;\n\n\u3164", 100)).toEqual([]);
    expect(chunks("", 100)).toEqual([]);
  });
});

describe("splitting any text from a model", () => {
  test("keeps every word of a text without markup", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 16, max: 100 }),
        (words, limit) => {
          expect(chunks(words.join(" "), limit).join(" ").split(/\s+/)).toEqual(words);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("is fast for a long document", async () => {
    const long = "A **sentence** with `code` and [a link](https://x.y). ".repeat(10_000);
    const cut = () => expect(chunks(long, 4000).length).toBeGreaterThan(80);
    expect(await leastCostOf(cut, { below: 5_000 })).toBeLessThan(5_000);
  });
});
