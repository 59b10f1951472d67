/** Reports as text: what a command prints on a terminal, and what the console copies. */
import { stripVTControlCharacters, type styleText } from "node:util";

export type Style = Parameters<typeof styleText>[0];

export interface TextPage {
  line(text?: string): void;
  style(style: Style, text: string): string;
  /** Rows in columns of the required width; the last column is not padded. */
  table(rows: readonly (readonly string[])[], options?: { readonly indent?: string }): void;
}

/** A page without colours. */
export function createTextPage(): TextPage & { written(): string } {
  const lines: string[] = [];
  return {
    line: (text = "") => void lines.push(text),
    style: (_, text) => text,
    table: (rows, { indent = "" } = {}) => void lines.push(...tableLines(rows, indent)),
    written: () => lines.map((line) => `${line}\n`).join(""),
  };
}

export function tableLines(rows: readonly (readonly string[])[], indent: string): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, columnsOf(cell))),
    [],
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - columnsOf(cell)),
    );
    return `${indent}${cells.join("  ")}`.trimEnd();
  });
}

/** Characters of East Asia, flags, and emoji that are drawn as pictures take two columns. */
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}\p{Regional_Indicator}]|\uFE0F/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** How many columns a text takes on a terminal. */
export function columnsOf(styled: string): number {
  const text = stripVTControlCharacters(styled);
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  // An accent, or the parts of one emoji, belong to the character before.
  const characters = [...new Intl.Segmenter().segment(text)];
  return characters.reduce((sum, { segment }) => sum + (invisible.test(segment) ? 0 : wide.test(segment) ? 2 : 1), 0);
}
