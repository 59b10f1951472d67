import { describe, expect, test } from "vitest";
import { columnsOf } from "../../../../core/sdk/markup/table.ts";
import { chunkText, parseMarkdown, renderHtml } from "../../../support/rich-text.ts";
import { parseStrictHtml } from "./html-parser.ts";

const html = (markdown: string) => {
  const result = renderHtml(parseMarkdown(markdown));
  parseStrictHtml(result);
  return result;
};

const table = (...rows: readonly (readonly string[])[]) =>
  [rows[0], (rows[0] ?? []).map(() => "---"), ...rows.slice(1)]
    .map((row) => `| ${(row ?? []).join(" | ")} |`)
    .join("\n");

describe("a table that fits a phone in one line", () => {
  test("is aligned by the columns of a fixed-width font", () => {
    const { text } = parseStrictHtml(html("| Name | n |\n|:-----|--:|\n| 漢字 | 7 |\n| **b** `c` | 1234 |"));
    expect(text.split("\n")).toEqual(["Name |    n", "-----+-----", "漢字 |    7", "b c  | 1234"]);
    expect(html("| a | centre |\n|---|:-:|\n| 1 | x |")).toBe("<pre>a | centre\n--+-------\n1 |   x</pre>");
  });

  test("keeps the destinations of its links", () => {
    expect(html("| a |\n|---|\n| [x](https://y.z) |")).toBe("<pre>a\n---------------\nx (https://y.z)</pre>");
  });

  test("can have rows of different lengths", () => {
    expect(html("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |")).toBe("<pre>a | b\n--+--\n1 |\n1 | 2</pre>");
  });

  test("has at most forty columns", () => {
    expect(html(table(["a", "b"], ["x".repeat(18), "y".repeat(19)]))).toMatch(/^<pre>/);
    expect(html(table(["a", "b"], ["x".repeat(18), "y".repeat(20)]))).not.toContain("<pre>");
    expect(html(table(["a", "b"], ["漢".repeat(9), "字".repeat(10)]))).not.toContain("<pre>");
  });

  test("starts its own line after a bullet, and the list continues", () => {
    expect(html("- one\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n- two")).toBe(
      "• one\n\n<pre>a | b\n--+--\n1 | 2</pre>\n\n• two",
    );
  });
});

describe("a wider table", () => {
  const long = "a description that no phone shows in one line";

  test("becomes a block per row, with the first column as title and each value after its column name", () => {
    expect(
      html(table(["Model", "What it is", "Price"], ["**A** one", long, "3"], ["[B](https://b.c)", "see `x.md`", "4"])),
    ).toBe(
      [
        "<b>Model: A one</b>",
        `<b>What it is:</b> ${long}`,
        "<b>Price:</b> 3",
        "",
        '<b>Model: <a href="https://b.c">B</a></b>',
        "<b>What it is:</b> see <code>x.md</code>",
        "<b>Price:</b> 4",
      ].join("\n"),
    );
  });

  test("omits empty cells and names each column as its header does", () => {
    expect(
      html(table(["", "Ready?", "In (€)", ""], ["A", long, "3", ""], ["", "", "", ""], ["", "yes", "", "really"])),
    ).toBe(["<b>A</b>", `<b>Ready?</b> ${long}`, "<b>In (€):</b> 3", "", "<b>Ready?</b> yes", "really"].join("\n"));
  });

  test("becomes a list with one column, and only its header without rows", () => {
    expect(html(table(["What to do"], [long], [""], ["**Rest**"]))).toBe(`<b>What to do</b>\n• ${long}\n• <b>Rest</b>`);
    expect(html(table([long, "Price"]))).toBe(`<b>${long}</b>\nPrice`);
  });

  test("ends before short rows multiply its cells, without losing content", () => {
    const titles = Array.from({ length: 100 }, (_, at) => `t${at}`);
    const short = Array.from({ length: 1_200 }, (_, at) => `${at}`);
    const lines = [titles.join("|"), titles.map(() => "-").join("|"), ...short].join("\n");
    for (const text of [lines, lines.replace(/^/gm, "> "), `- a\n\n${lines.replace(/^/gm, "  ")}`]) {
      const shown = parseMarkdown(text)
        .text.split("\n")
        .map((line) => line.trim());
      expect(shown.filter((line) => line.startsWith("t0: ")).length).toBeLessThan(50);
      expect(shown.flatMap((line) => /^(?:t0: )?(\d+)$/.exec(line)?.[1] ?? [])).toEqual(short);
    }
    // Cells that were written count only as the marks that they are, of which a text may have far more.
    const full = table(["a", "b", "c"], ...short.slice(0, 600).map((at) => [at, "", ""]));
    expect(parseMarkdown(full).text.split("\n").at(-1)).toMatch(/^599 \| +\|$/);
  });

  test("is indented in a list and stays inside a quote", () => {
    const rows = table(["A", "B"], ["1", long]).split("\n");
    expect(html(`1. one\n\n${rows.map((row) => `   ${row}`).join("\n")}`)).toBe(
      `1. one\n\n   <b>A: 1</b>\n   <b>B:</b> ${long}`,
    );
    expect(html(rows.map((row) => `> ${row}`).join("\n"))).toBe(
      `<blockquote><b>A: 1</b>\n<b>B:</b> ${long}</blockquote>`,
    );
  });

  test("stays in one message if it fits, and is otherwise split between rows", () => {
    const rows = table(["A", "B"], ...["1", "2", "3"].map((name) => [name, long]));
    const cut = (limit: number, mode: "length" | "newline") =>
      chunkText(parseMarkdown(`before\n\n${rows}\n\nafter`), { limit, mode }).map(({ text }) =>
        text.replaceAll(long, "..."),
      );
    expect(cut(168, "length")).toEqual(["before", "A: 1\nB: ...\n\nA: 2\nB: ...\n\nA: 3\nB: ...", "after"]);
    expect(cut(4_000, "newline")).toEqual(["before", "A: 1\nB: ...\n\nA: 2\nB: ...\n\nA: 3\nB: ...", "after"]);
    expect(cut(70, "length")).toEqual(["before\n\nA: 1\nB: ...", "A: 2\nB: ...", "A: 3\nB: ...\n\nafter"]);
  });
});

test("wide and combining characters have the correct column width", () => {
  expect(columnsOf("漢字")).toBe(4);
  expect(columnsOf("👩‍👩‍👧")).toBe(2);
  expect(columnsOf("é")).toBe(1);
  expect(columnsOf("e\u0301")).toBe(1);
  expect(columnsOf("naïve ASCII, with ©")).toBe(19);
  expect(columnsOf("щука")).toBe(4);
});
