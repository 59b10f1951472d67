/** Aligns a table for a fixed-width font. */
import { graphemes } from "./graphemes.ts";

export type Alignment = "left" | "right" | "center";

export interface Table {
  readonly alignments: readonly Alignment[];
  /** The first row contains the column titles. */
  readonly rows: readonly (readonly string[])[];
}

const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;
/** Before the combining marks, each unit is a character that is one column wide. */
const firstCombining = 0x300;

/** The width of a text in columns of a fixed-width font. */
export function columnsOf(text: string): number {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) < firstCombining) at += 1;
  if (at === text.length) return at;
  let columns = 0;
  for (const { segment } of graphemes(text)) columns += wide.test(segment) ? 2 : 1;
  return columns;
}

/** Creates a cached width function, because cells repeat and measuring is expensive. */
export function createRuler(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let columns = known.get(text);
    if (columns === undefined) {
      columns = columnsOf(text);
      known.set(text, columns);
    }
    return columns;
  };
}

const between = " | ";

/** The width of each column. Measuring stops as soon as a line of the table is wider than `most`. */
export function widthsOf(
  { alignments, rows }: Table,
  columns: (text: string) => number,
  most: number,
): readonly number[] {
  const widths = alignments.map(() => 1);
  for (const row of rows) {
    if (lineWidth(widths) > most) break;
    for (const [column, width] of widths.entries()) widths[column] = Math.max(width, columns(row[column] ?? ""));
  }
  return widths;
}

/** The width of a line of the table. */
export function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, between.length * (widths.length - 1));
}

function pad(text: string, missing: number, alignment: Alignment): string {
  const before = alignment === "right" ? missing : alignment === "center" ? missing >> 1 : 0;
  return " ".repeat(before) + text + " ".repeat(missing - before);
}

export function alignTable(
  { alignments, rows }: Table,
  widths: readonly number[],
  columns: (text: string) => number,
): string {
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? "", width - columns(row[column] ?? ""), alignments[column] ?? "left"))
      .join(between)
      .trimEnd(),
  );
  return [lines[0] ?? "", widths.map((width) => "-".repeat(width)).join("-+-"), ...lines.slice(1)].join("\n");
}
