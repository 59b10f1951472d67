/**
 * Renders a table as text, because the platform has no tables: aligned if it fits a phone's screen, otherwise as a
 * block of lines for each row.
 */
import type { Token } from "markdown-it";
import { plainText, writeInline } from "./markdown-inline.ts";
import { type Alignment, alignTable, createRuler, lineWidth, widthsOf } from "./table.ts";
import { indentOf, startBlock, startVerbatim, type Walk } from "./walk.ts";

/** Columns that a phone shows in one line of a fixed-width font. */
const phoneColumns = 40;

interface Cell {
  /** The text without styles, which are not available in a fixed-width font. */
  readonly plain: string;
  readonly tokens: readonly Token[];
}

type Row = readonly Cell[];

function alignmentOf(cell: Token): Alignment {
  const style = cell.attrGet("style");
  return style === "text-align:right" ? "right" : style === "text-align:center" ? "center" : "left";
}

/** The column title before a value: `Price:`. */
function label(head: Cell | undefined): string {
  const text = head?.plain ?? "";
  return text === "" || /[:?!.…：？！。]$/.test(text) ? text : `${text}:`;
}

function nextLine(walk: Walk): void {
  walk.out.freshLine();
  walk.out.write(indentOf(walk));
}

function inBold(walk: Walk, run: () => void): void {
  walk.out.open({ kind: "bold" });
  run();
  walk.out.close("bold");
}

/** Writes a row as a block, with the first column as its title. Empty cells are left out. */
function writeRow(walk: Walk, head: Row, row: Row): void {
  let begun = false;
  for (const [column, cell] of row.entries()) {
    if (cell.plain === "") continue;
    if (begun) nextLine(walk);
    begun = true;
    const name = label(head[column]);
    const labelled = () => walk.out.write(name);
    const value = () => {
      if (name !== "") walk.out.write(" ");
      writeInline(walk, cell.tokens);
    };
    if (column === 0) {
      inBold(walk, () => {
        labelled();
        value();
      });
    } else {
      inBold(walk, labelled);
      value();
    }
  }
}

/** Writes a table with a single column as a list below its title. */
function writeColumn(walk: Walk, head: Row, rows: readonly Row[]): void {
  inBold(walk, () => writeInline(walk, head[0]?.tokens ?? []));
  for (const [cell] of rows) {
    nextLine(walk);
    walk.out.write("• ");
    writeInline(walk, cell?.tokens ?? []);
  }
}

function writeRows(walk: Walk, head: Row, rows: readonly Row[]): void {
  for (const [index, row] of rows.entries()) {
    if (index > 0) {
      walk.out.blankLine();
      walk.out.write(indentOf(walk));
    }
    writeRow(walk, head, row);
  }
}

function writeBlocks(walk: Walk, head: Row, rows: readonly Row[]): void {
  const filled = rows.filter((row) => row.some(({ plain }) => plain !== ""));
  if (head.length === 1) writeColumn(walk, head, filled);
  else if (filled.length === 0) writeRow(walk, [], head);
  else writeRows(walk, head, filled);
}

/** Writes the table whose tokens begin at `at`. Returns the index of its last token. */
export function writeTable(walk: Walk, tokens: readonly Token[], at: number): number {
  const rows: Cell[][] = [];
  const alignments: Alignment[] = [];
  let end = at;
  for (let token = tokens[end]; token !== undefined && token.type !== "table_close"; token = tokens[++end]) {
    if (token.type === "tr_open") rows.push([]);
    if (token.type === "th_open") alignments.push(alignmentOf(token));
    if (token.type !== "th_open" && token.type !== "td_open") continue;
    const children = tokens[end + 1]?.children ?? [];
    rows.at(-1)?.push({ plain: plainText(children, walk.dialect), tokens: children });
  }
  const [head = [], ...body] = rows;
  const table = { alignments, rows: rows.map((row) => row.map(({ plain }) => plain)) };
  const columns = createRuler();
  const widths = widthsOf(table, columns, phoneColumns);
  const fits = lineWidth(widths) <= phoneColumns;
  if (fits) startVerbatim(walk);
  else startBlock(walk, false);
  walk.out.whole(() => {
    if (!fits) {
      writeBlocks(walk, head, body);
      return;
    }
    walk.out.open({ kind: "pre" });
    walk.out.write(alignTable(table, widths, columns));
    walk.out.close("pre");
  });
  return end;
}
