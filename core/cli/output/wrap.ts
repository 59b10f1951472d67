/** Breaks sentences into lines of a terminal, so that no word is cut at its edge. */
import { columnsOf } from "../../reports/text-page.ts";

/** Longer lines are hard to read. */
const widest = 100;
const usual = 80;

/**
 * `first` begins the first line, and blanks of the same width the others. Words that are longer than a line, such as
 * paths, stay in one piece, so that they can be copied.
 */
export function wrapped(
  text: string,
  { columns = usual, first = "" }: { columns?: number; first?: string } = {},
): string {
  // A terminal of unknown size reports 0.
  const width = Math.min(columns === 0 ? usual : columns, widest) - 1;
  const indent = " ".repeat(columnsOf(first));
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && columnsOf(`${line} ${word}`) > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}
