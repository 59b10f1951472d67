/** Output of the commands: colours only on a terminal, and one format for errors. */
import { styleText } from "node:util";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { visible } from "../../log/visible.ts";
import { columnsOf } from "./width.ts";

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** Prints a line on standard output. */
  line(text?: string): void;
  /** Prints data for programs on standard output. */
  json(value: unknown): void;
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
    json: (value) => line(JSON.stringify(value, null, 2)),
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
