/** Output of the commands: colours only on a terminal, and one format for errors. */
import { stripVTControlCharacters, styleText } from "node:util";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { onEvent } from "../../listeners/index.ts";
import { visible, visibleJson } from "../../log/visible.ts";

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** Prints a line on standard output. */
  line(text?: string): void;
  /** Prints data for programs on standard output. `lines`: on one line, as one of many. */
  json(value: unknown, options?: { readonly lines?: boolean }): void;
  /** Prints a line for people on standard error: progress, notices. */
  note(text: string): void;
  /** Colours the text if standard output is a terminal that supports it; `NO_COLOR` and `FORCE_COLOR` are respected. */
  style(style: Style, text: string): string;
  /** Rows in columns of the required width; the last column is not padded. */
  table(rows: readonly (readonly string[])[], options?: { readonly indent?: string }): void;
  /** One sentence and what to do, on standard error. */
  error(thrown: unknown): void;
}

export function createTerminal({ stdout, stderr }: Pick<NodeJS.Process, "stdout" | "stderr">): Terminal {
  const style = (format: Style, text: string) => styleText(format, text, { stream: stdout });
  const line = (text = "") => void stdout.write(`${text}\n`);
  return {
    line,
    json: (value, { lines = false } = {}) => line(visibleJson(value, lines ? undefined : 2)),
    note: (text) => void stderr.write(`${text}\n`),
    style,
    table(rows, { indent = "" } = {}) {
      const widths = rows.reduce<readonly number[]>(
        (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, columnsOf(cell))),
        [],
      );
      for (const row of rows) {
        const cells = row.map((cell, column) =>
          column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - columnsOf(cell)),
        );
        line(`${indent}${cells.join("  ")}`.trimEnd());
      }
    },
    error(thrown) {
      const red = (text: string) => styleText("red", text, { stream: stderr });
      const text = thrown instanceof HostError ? thrown.message : `${reasonOf(thrown)}.`;
      stderr.write(`${red("error:")} ${visible(text)}\n`);
      if (thrown instanceof HostError && thrown.hint !== "") stderr.write(`       ${visible(thrown.hint)}\n`);
    },
  };
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

/** In `service logs | head`, the reader closes the pipe early, and the command ends. `serve` makes it go on instead. */
export function watchReaders({ stdout, stderr }: Pick<NodeJS.Process, "stdout" | "stderr">): { serve(): void } {
  let isServing = false;
  const source = "the terminal";
  onEvent<readonly [NodeJS.ErrnoException]>(stdout, "error", {
    source,
    handle: ({ code }) => isServing || process.exit(code === "EPIPE" ? 0 : 1),
  });
  onEvent(stderr, "error", { source, handle() {} });
  return {
    /** A gateway goes on without a reader, and on a full disk: it has its log. */
    serve() {
      isServing = true;
    },
  };
}
