/** Output of the commands: colours only on a terminal, and one format for errors. */
import { styleText } from "node:util";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { onEvent } from "../../listeners/listen.ts";
import { visible, visibleJson } from "../../log/visible.ts";
import { type Style, type TextPage, tableLines } from "../../reports/text-page.ts";

export type { Style };

export interface Terminal extends TextPage {
  /** Prints a line on standard output. */
  line(text?: string): void;
  /** Prints data for programs on standard output. `lines`: on one line, as one of many. */
  json(value: unknown, options?: { readonly lines?: boolean }): void;
  /** Prints a line for people on standard error: progress, notices. */
  note(text: string): void;
  /** Colours the text if standard output is a terminal that supports it; `NO_COLOR` and `FORCE_COLOR` are respected. */
  style(style: Style, text: string): string;
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
      for (const row of tableLines(rows, indent)) line(row);
    },
    error(thrown) {
      const red = (text: string) => styleText("red", text, { stream: stderr });
      const text = thrown instanceof HostError ? thrown.message : `${reasonOf(thrown)}.`;
      stderr.write(`${red("error:")} ${visible(text)}\n`);
      if (thrown instanceof HostError && thrown.hint !== "") stderr.write(`       ${visible(thrown.hint)}\n`);
    },
  };
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
