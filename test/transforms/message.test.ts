import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { describe, expect, test } from "vitest";
import { at, bold, code, items, link, messageLimit, plain, quote, say } from "../../transforms/message.ts";
import { leastCostOf } from "../support/cost.ts";

const markdown = new MarkdownIt("default", { html: true, linkify: false });

/** What a reader sees of it, and every kind of markup in it. */
function read(text: string): { readonly shown: string; readonly marks: readonly string[] } {
  const tokens = markdown.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  const marks = tokens
    .map(({ type }) => type)
    .filter((type) => !/^(text|text_special|inline|softbreak|paragraph_(open|close))$/.test(type));
  const shown = tokens.map(({ type, content }) =>
    type === "softbreak" ? "\n" : /^(text|text_special|code_inline)$/.test(type) ? content : "",
  );
  return { shown: shown.join("").replaceAll("\u200B", ""), marks };
}

/** Texts that are made of what Markdown is made of. */
const nasty = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ..."*_~`[]()<>!#>-+=|\\&;.:@1a ä\n\t",
          "&lt;",
          "https://a.example",
          "](",
          "![",
          "```",
          "---",
          "1. ",
          "@all",
        ),
      },
      fc.string({ unit: "grapheme", maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

const visible = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .replace(/[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g, "")
    .toWellFormed()
    .trim();

describe("Markdown around external text", () => {
  test("a value is shown literally and is never markup", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const { shown, marks } = read(plain(text, 1_000));
        expect(marks).toEqual([]);
        expect(shown.trim()).toBe(visible(text));
      }),
      { numRuns: 1_500 },
    );
  });

  test("a quote stays a single quote of plain lines", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const { marks } = read(quote(text));
        expect(marks.filter((type) => !type.startsWith("blockquote"))).toEqual([]);
        expect(marks.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 1_500 },
    );
  });

  test("a link is one link to the given address, for any text and address", () => {
    fc.assert(
      fc.property(nasty, nasty, (text, path) => {
        const made =
          "before " +
          `${link(plain(text) || "x", `https://site.example/${path.replace(/[\s\p{C}]/gu, "")}`)} ` +
          "after";
        const { marks, shown } = read(made);
        expect(marks).toEqual(["link_open", "link_close"]);
        expect(shown).toMatch(/^before .* after$/);
      }),
      { numRuns: 1_500 },
    );
  });

  test("code stays a single piece of code, and bold type a single piece of bold type", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        if (visible(text) === "") return;
        expect(read(`x ${code(text)} y`).marks).toEqual(["code_inline"]);
        if (/[\p{L}\p{N}]/u.test(text))
          expect(read(`x ${bold(text)} y`).marks).toEqual(["strong_open", "strong_close"]);
      }),
      { numRuns: 1_500 },
    );
  });

  test("mentions are disabled, and a mail address stays intact", () => {
    expect(plain("cc @octo, @everyone and me@example.com")).toBe("cc @\u200Bocto, @\u200Beveryone and me@example.com");
    expect(plain("x@everyone")).toBe("x@\u200Beveryone");
  });

  test("only web addresses become links", () => {
    for (const address of [
      "javascript:alert(1)",
      "data:text/html,x",
      "tg://user?id=1",
      "//a.example",
      "http:///x",
      "ftp://a.example",
      1,
      null,
      {},
    ]) {
      expect(link("x", address)).toBe("x");
    }
    expect(link("x", "https://a.example/(b)?c=<d>")).toBe("[x](https://a.example/%28b%29?c=%3cd%3e)");
  });

  test("names with underscores and numbers stay readable", () => {
    expect(plain("fix snake_case in v1.2 (#12) + more")).toBe("fix snake_case in v1.2 (#12) + more");
    expect(plain("__init__ and _x_")).toBe("\\_\\_init\\_\\_ and \\_x\\_");
  });

  test("a quote omits template comments and shows the beginning", () => {
    expect(quote("<!-- describe\nyour change -->\r\nFirst\n\n\nSecond")).toBe("> First\n>\n> Second");
    expect(quote("1\n2\n3\n4", { lines: 2 })).toBe("> 1\n> 2\n> …");
    expect(quote("a".repeat(20), { max: 10 })).toBe(`> ${"a".repeat(9)}…`);
  });

  test("text over the limit is omitted in whole blocks, and list items are counted", () => {
    const { message } = say({ blocks: ["first", "x".repeat(messageLimit - 10), "last"] });
    expect(message).toBe(`first\n\n${"x".repeat(messageLimit - 10)}`);
    expect(items(["a", "b", "c"], { max: 2, total: 10 })).toBe("- a\n- b\n- and 8 more");
  });

  test("a text of a megabyte is handled quickly", async () => {
    const all = () => {
      for (const part of ["_a", "<!-- ", "@", "&", " \n", "`"]) {
        const text = part.repeat(1_000_000 / part.length);
        expect([plain(text), code(text), quote(text)].join("").length).toBeLessThan(3_000);
      }
    };
    expect(await leastCostOf(all, { below: 1_000 })).toBeLessThan(1_000);
  });

  test("only own properties are read", () => {
    expect(at({ a: [{ b: 1 }] }, "a.0.b")).toBe(1);
    for (const path of ["constructor", "__proto__.polluted", "a.length.toFixed", "toString"])
      expect(at({ a: {} }, path)).toBeUndefined();
  });
});
