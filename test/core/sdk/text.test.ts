import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { Json, Reply } from "../../../core/sdk/contract.ts";
import { cutText } from "../../../core/sdk/text/cut-text.ts";
import { parseMarkdown } from "../../../core/sdk/text/markdown-tree.ts";
import { plainText } from "../../../core/sdk/text/plain-text.ts";

const words = (text: string) => text.replace(/\s+/g, "");

describe("the parse tree of a reply", () => {
  test("contains every type of block and inline element", () => {
    const tree = parseMarkdown(
      [
        "# Title",
        "Some **bold *and italic*** ~~gone~~ `code`,  \nand [a link](https://example.org/ä?x=1) " +
          "![alt](https://example.org/a.png)",
        "> quoted",
        "3. three\n4. four\n   - inner",
        "```ts\nlet a;\n\n```",
        "| a | b |\n|---|---|\n| 1 | **2** |",
        "---",
      ].join("\n\n"),
    );
    const text = (value: string) => ({ type: "text", text: value });
    expect(tree).toEqual([
      { type: "heading", level: 1, content: [text("Title")] },
      {
        type: "paragraph",
        content: [
          text("Some "),
          { type: "bold", content: [text("bold "), { type: "italic", content: [text("and italic")] }] },
          text(" "),
          { type: "strike", content: [text("gone")] },
          text(" "),
          { type: "code", text: "code" },
          text(","),
          { type: "break" },
          text("and "),
          { type: "link", url: "https://example.org/ä?x=1", content: [text("a link")] },
          text(" "),
          { type: "image", url: "https://example.org/a.png", text: "alt" },
        ],
      },
      { type: "quote", blocks: [{ type: "paragraph", content: [text("quoted")] }] },
      {
        type: "list",
        start: 3,
        items: [
          [{ type: "paragraph", content: [text("three")] }],
          [
            { type: "paragraph", content: [text("four")] },
            { type: "list", items: [[{ type: "paragraph", content: [text("inner")] }]] },
          ],
        ],
      },
      { type: "code", text: "let a;\n", language: "ts" },
      {
        type: "table",
        rows: [
          [[text("a")], [text("b")]],
          [[text("1")], [{ type: "bold", content: [text("2")] }]],
        ],
      },
      { type: "rule" },
    ]);
  });

  test("contains every word of a text that is nested too deeply to parse", () => {
    const text = `${"> ".repeat(200)}deep\nsecond`;
    expect(words(plainText(text))).toBe(words(text));
  });

  test("exists for every text and contains its words", () => {
    const pieces = fc.constantFrom(
      "**",
      "*",
      "_",
      "`",
      "\n",
      "\n\n",
      "> ",
      "- ",
      "1. ",
      "|",
      "[",
      ")",
      "<b>",
      "&amp;",
      " ",
      "\ud800",
      "😀",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (list) => {
        const shown = plainText(list.join(""));
        expect(shown.isWellFormed()).toBe(true);
        expect(shown.split("😀").length).toBe(list.join("").split("😀").length);
      }),
    );
    expect(parseMarkdown("")).toEqual([]);
  });
});

describe("plain text of a reply", () => {
  test.each([
    ["See **[the docs](https://example.org)**.", "See the docs (https://example.org)."],
    ["<https://example.org> and <ada@example.org>", "https://example.org and ada@example.org"],
    ["[](https://example.org)", "https://example.org"],
    ["![a cat](https://example.org/cat.png)", "a cat (https://example.org/cat.png)"],
    ["- one\n- two\n  more\n  - inner", "- one\n- two\n  more\n  - inner"],
    ["7. a\n8. b", "7. a\n8. b"],
    ["> one\n> two", "> one\n> two"],
    ["```js\n  a < b && **c**\n```", "  a < b && **c**"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"],
    ["Title\n===\n\ntext\\*", "Title\n\ntext*"],
    ["**open", "**open"],
    ["a\u0000b\u0007", "ab"],
    ["", ""],
  ])("%j renders as %j", (markdown, text) => {
    expect(plainText(markdown)).toBe(text);
  });
});

describe("splitting a text", () => {
  const size = {
    utf16: (text: string) => text.length,
    bytes: (text: string) => Buffer.byteLength(text),
    characters: (text: string) => [...text].length,
  };

  test.each([
    ["a paragraph", "one two.\n\nthree four", 16, ["one two.", "three four"]],
    ["a line", "one two three\nfour five", 18, ["one two three", "four five"]],
    ["a sentence", "One two three. Four five", 20, ["One two three.", "Four five"]],
    ["a word", "one two three four", 9, ["one two", "three", "four"]],
    ["a word that just fits", "one two three", 7, ["one two", "three"]],
    ["nowhere better", "abcdefghij", 4, ["abcd", "efgh", "ij"]],
  ])("happens at %s", (_, text, limit, pieces) => {
    expect(cutText(text, { limit })).toEqual(pieces);
  });

  test("keeps indentation and drops lines without visible content", () => {
    expect(cutText("\n\n  let a;\n  let b;\n\n\n", { limit: 12 })).toEqual(["  let a;", "  let b;"]);
    expect(cutText(" \n\u200b\n ", { limit: 12 })).toEqual([]);
  });

  test("measures length as the platform does", () => {
    expect(cutText("äöü€😀", { limit: 6, unit: "bytes" })).toEqual(["äöü", "€", "😀"]);
    expect(cutText("äöü€😀", { limit: 4, unit: "characters" })).toEqual(["äöü€", "😀"]);
    expect(cutText("äöü€😀", { limit: 6, unit: "utf16" })).toEqual(["äöü€😀"]);
  });

  test("never splits a user-perceived character", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(cutText(family.repeat(3), { limit: 30, unit: "bytes" })).toEqual([family, family, family]);
    expect(cutText("a\u0300".repeat(3), { limit: 5 })).toEqual(["a\u0300a\u0300", "a\u0300"]);
  });

  test("loses no visible character and stays within the limit, for any text and unit", () => {
    const text = fc.array(
      fc.constantFrom("word", " ", "\n", "\n\n", ". ", "é", "€", "😀", "👍🏽", "\u0300", "x".repeat(30)),
      {
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 4, max: 60 }),
        fc.constantFrom("utf16", "bytes", "characters"),
        (list, limit, unit) => {
          const pieces = cutText(list.join(""), { limit, unit });
          for (const piece of pieces) expect(size[unit](piece)).toBeLessThanOrEqual(limit);
          // A mark that nothing carries shows nothing.
          expect(words(pieces.join("")).replaceAll("\u0300", "")).toBe(words(list.join("")).replaceAll("\u0300", ""));
        },
      ),
    );
  });

  test("rejects a limit that is too small for one character", () => {
    expect(() => cutText("a", { limit: 3 })).toThrow("limit of cutText is 3: give a whole number of at least 4");
  });
});

test("the buttons of a reply are valid JSON for the body of a part", () => {
  expectTypeOf<Reply["buttons"]>().toExtend<Json>();
});
