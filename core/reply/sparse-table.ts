/**
 * Our rule for where a table ends. The parser fills short rows with empty cells, so a few kilobytes of short rows under
 * a wide title would become tens of thousands of them. Such a table ends early, and the rest of it is shown as it was
 * written.
 */
import type { MarkdownIt, StateBlock } from "markdown-it";

/** More than people leave empty. */
const freeCells = 1_000;

/** The row below the title, such as `|---|---|`, has a bar for each column, or one less or more. */
const columnsOf = (state: StateBlock, title: number) =>
  state.src.slice(state.bMarks[title + 1], state.eMarks[title + 1]).split("|").length;

/** A written cell is at least two characters long: its text or space, and its bar. */
function isSparse(state: StateBlock, line: number): boolean {
  const { parentType, line: title, bMarks } = state;
  if (parentType !== "table") return false;
  const written = (bMarks[line] ?? 0) - (bMarks[title] ?? 0);
  return (line - title) * columnsOf(state, title) > freeCells + written;
}

export function addTableEnd(parser: MarkdownIt): void {
  const tableEnd = (state: StateBlock, line: number, _end: number, silent: boolean) => silent && isSparse(state, line);
  // The parser asks the rules that may end a quotation also whether they end a table.
  parser.block.ruler.before("paragraph", "table_end", tableEnd, { alt: ["blockquote"] });
}
