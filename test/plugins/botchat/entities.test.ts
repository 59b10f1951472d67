import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entitiesToMarkdown } from "../../../plugins/botchat/intake/entities.ts";
import { parseMarkdown, renderHtml } from "../../support/rich-text.ts";

/** Entities written as `type@text`, found by where the text stands. */
const at = (source: string, type: string, text: string, more: object = {}) => ({
  type,
  offset: source.indexOf(text),
  length: text.length,
  ...more,
});

describe("a date, which apps show as a time instead of its text,", () => {
  const source = "call me tomorrow";
  const said = (unix_time: unknown) =>
    entitiesToMarkdown(source, [at(source, "date_time", "tomorrow", { unix_time, date_time_format: "wDT" })]);

  test("is followed by its time", () => {
    expect(said(1_647_531_900)).toBe("call me tomorrow (Thu 2022-03-17 15:45 UTC)");
  });

  test.each([undefined, "1647531900", -1, 1e12])("of %s stays text", (time) => {
    expect(said(time)).toBe(source);
  });
});

describe("converting entities to Markdown", () => {
  test.each([
    ["bold", "a word b", [["bold", "word"]], "a **word** b"],
    ["italic", "a word b", [["italic", "word"]], "a *word* b"],
    ["underline", "a word b", [["underline", "word"]], "a <u>word</u> b"],
    ["strikethrough", "a word b", [["strikethrough", "word"]], "a ~~word~~ b"],
    ["spoiler", "a word b", [["spoiler", "word"]], "a ||word|| b"],
    ["code", "a x=1 b", [["code", "x=1"]], "a `x=1` b"],
    ["code with ticks", "a x`1 b", [["code", "x`1"]], "a ``x`1`` b"],
    [
      "nested",
      "all of it",
      [
        ["bold", "all of it"],
        ["italic", "of"],
      ],
      "**all *of* it**",
    ],
    ["offsets in UTF-16 units", "😀😀 word", [["bold", "word"]], "😀😀 **word**"],
    ["white space at the edge stays outside", "a word b", [["bold", " word "]], "a **word** b"],
    ["a style over lines is closed in each", "one\n\ntwo", [["bold", "one\n\ntwo"]], "**one**\n\n**two**"],
    ["pre", "x\na\nb\ny", [["pre", "a\nb"]], "x\n```\na\nb\n```\ny"],
    ["pre inside a line", "x a y", [["pre", "a"]], "x \n```\na\n```\n y"],
    ["quote", "x\na\nb\ny", [["blockquote", "a\nb"]], "x\n> a\n> b\ny"],
    [
      "bold in a quote",
      "a b\nc",
      [
        ["expandable_blockquote", "a b"],
        ["bold", "b"],
      ],
      "> a **b**\nc",
    ],
    [
      "what needs no mark",
      "@ada #tag /cmd https://x.y",
      [
        ["mention", "@ada"],
        ["hashtag", "#tag"],
        ["bot_command", "/cmd"],
        ["url", "https://x.y"],
      ],
      "@ada #tag /cmd https://x.y",
    ],
    ["what a person typed is not escaped", "2 * 3 * 4 [a](b)", [], "2 * 3 * 4 [a](b)"],
  ] as const)("%s", (_name, source, marks, expected) => {
    expect(
      entitiesToMarkdown(
        source,
        marks.map(([type, text]) => at(source, type, text)),
      ),
    ).toBe(expected);
  });

  test("keeps any destination of a link", () => {
    const source = "see here";
    expect(entitiesToMarkdown(source, [at(source, "text_link", "here", { url: "https://x.y/(a) b" })])).toBe(
      "see [here](https://x.y/%28a%29%20b)",
    );
    expect(entitiesToMarkdown(source, [at(source, "text_mention", "here", { user: { id: 5 } })])).toBe(
      "see [here](tg://user?id=5)",
    );
  });

  test("keeps the language of code", () => {
    expect(entitiesToMarkdown("a", [{ type: "pre", offset: 0, length: 1, language: "c++" }])).toBe("```c++\na\n```");
    expect(entitiesToMarkdown("a", [{ type: "pre", offset: 0, length: 1, language: "x\n`" }])).toBe("```\na\n```");
  });

  test("nests overlapping entities", () => {
    expect(
      entitiesToMarkdown("abcd", [
        { type: "bold", offset: 0, length: 3 },
        { type: "italic", offset: 1, length: 3 },
      ]),
    ).toBe("**a*bc****d*");
  });

  test.each([
    [[{ type: "bold", offset: -1, length: 2 }]],
    [[{ type: "bold", offset: 0, length: 99 }]],
    [[{ type: "bold", offset: 0.5, length: 1 }]],
    [[{ type: "bold", offset: "0", length: 1 }]],
    [[null, 7, "x", {}, []]],
    ["junk"],
    [{ 0: {} }],
  ])("omits junk: %j", (raw) => expect(entitiesToMarkdown("ab", raw as never)).toBe("ab"));

  test("preserves the visible text and never throws", () => {
    const kinds = [
      "bold",
      "italic",
      "underline",
      "strikethrough",
      "spoiler",
      "code",
      "pre",
      "blockquote",
      "text_link",
      "unknown",
    ];
    const entity = fc.record({
      type: fc.constantFrom(...kinds),
      offset: fc.integer({ min: -2, max: 40 }),
      length: fc.integer({ min: -2, max: 40 }),
      url: fc.constant("https://x.y"),
    });
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z \n😀]{0,40}$/u), fc.array(entity, { maxLength: 6 }), (source, entities) => {
        const markdown = entitiesToMarkdown(source, entities);
        const seen = markdown.replace(/\(https:\/\/x\.y\)|<\/?u>|[^a-z😀]/gu, "");
        expect(seen).toBe(source.replace(/[^a-z😀]/gu, ""));
      }),
      { numRuns: 500 },
    );
  });

  test("preserves a person's formatting when the text is echoed", () => {
    const source = "Bold and italic and code and link";
    const entities = [
      at(source, "bold", "Bold"),
      at(source, "italic", "italic"),
      at(source, "code", "code"),
      at(source, "text_link", "link", { url: "https://x.y" }),
    ];
    expect(renderHtml(parseMarkdown(entitiesToMarkdown(source, entities)))).toBe(
      '<b>Bold</b> and <i>italic</i> and <code>code</code> and <a href="https://x.y">link</a>',
    );
  });
});
