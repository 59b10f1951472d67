/** The log: writes JSON lines with pino and redacts secrets by value. The only importer of pino. */
import { type Logger, pino } from "pino";
import { openLogFile, type Sink } from "./log-file.ts";
import { renderLogLine } from "./log-line.ts";
import { redactValue } from "./redact-value.ts";
import { createRedactor } from "./redactor.ts";
import { visibleJson } from "./visible.ts";

export type Log = Logger;

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface LogOptions {
  readonly level: LogLevel;
  /** Values that must not appear in any line. Read for each line, so that new secrets are redacted at once. */
  readonly secrets: () => Iterable<string>;
  /** `human` for a terminal, `json` for machines, `none` to write only the file. */
  readonly print: "human" | "json" | "none";
  /** A file that also receives the lines, always as JSON. */
  readonly file?: string;
}

export interface OpenLog {
  readonly log: Log;
  /** Redacts secrets in a text that is used elsewhere. */
  readonly redact: (text: string) => string;
  /** Calls `listener` with each line, without its line break and without secrets; `undefined` ends that. */
  follow(listener: ((line: string) => void) | undefined): void;
  /** Writes buffered lines and closes the file. */
  close(): void;
}

/** Standard output, which is never closed because other code writes to it. */
const standardOutput: Sink = { write: (lines) => void process.stdout.write(lines), close() {} };

/**
 * Writes all lines of one event-loop turn at once. Under load, a write for each line costs more than creating the line.
 */
function gatherLines(sink: Sink): Sink {
  let lines = "";
  let closed = false;
  const flush = () => {
    if (lines === "") return;
    const text = lines;
    lines = "";
    sink.write(text);
  };
  return {
    write(line) {
      if (closed) return sink.write(line);
      if (lines === "") setImmediate(flush);
      lines += line;
    },
    close() {
      closed = true;
      flush();
      sink.close();
    },
  };
}

/** A line remains JSON, whatever a secret is. Nearly all lines contain none. */
function redactLine(line: string, redact: (text: string) => string): string {
  if (redact(line) === line) return line;
  return `${visibleJson(redactValue(JSON.parse(line) as unknown, redact))}\n`;
}

export function createLog(options: LogOptions): OpenLog {
  const file = options.file === undefined ? undefined : gatherLines(openLogFile(options.file));
  const printed = options.print === "none" ? undefined : gatherLines(standardOutput);
  const redact = createRedactor(options.secrets);
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  let listener: ((line: string) => void) | undefined;
  const destination = {
    write(line: string) {
      const safe = redactLine(line, redact);
      listener?.(safe.trimEnd());
      file?.write(safe);
      printed?.write(options.print === "human" ? renderLogLine(safe, { colour }) : safe);
    },
  };
  const log = pino(
    {
      level: options.level,
      base: null,
      serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
    },
    destination,
  );
  const close = () => {
    printed?.close();
    file?.close();
  };
  const follow: OpenLog["follow"] = (next) => {
    listener = next;
  };
  return { log, redact, follow, close };
}
