/** The log: writes JSON lines with pino and redacts secrets by value. The only importer of pino. */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";
import { renderLogLine } from "./log-line.ts";
import { redactValue } from "./redact-value.ts";
import { createRedactor } from "./redactor.ts";

export type Log = Logger;

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** At this size, a log file is renamed to `<file>.1`, so that logs never fill a disk. */
const maxFileBytes = 10 * 1024 * 1024;

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
  /** Writes buffered lines and closes the file. */
  close(): void;
}

/** The destination of the lines. */
interface Sink {
  /** Writes complete lines. */
  write(lines: string): void;
  close(): void;
}

/** Standard output, which is never closed because other code writes to it. */
const standardOutput: Sink = { write: (lines) => void process.stdout.write(lines), close() {} };

function openFile(file: string): Sink {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const stream = pino.destination({ dest: file, append: true, sync: false, mode: 0o600 });
  let bytes = 0;
  let ended = false;
  try {
    bytes = statSync(file).size;
  } catch {
    // The file does not exist yet; the stream creates it.
  }
  // Logging must never stop events. If the disk is full, only log lines are lost.
  stream.on("error", () => {});
  return {
    write(lines) {
      // A late line from code that outlives the log.
      if (ended) return;
      bytes += Buffer.byteLength(lines);
      if (bytes > maxFileBytes) {
        bytes = Buffer.byteLength(lines);
        try {
          renameSync(file, `${file}.1`);
          stream.reopen();
        } catch {
          // The next line retries this.
        }
      }
      stream.write(lines);
    },
    close() {
      if (ended) return;
      ended = true;
      try {
        stream.flushSync();
      } catch {
        // The file is not open yet, or the disk is full.
      }
      stream.end();
    },
  };
}

/** Writes all lines of one event-loop turn at once. Under load, a write for each line costs more than creating the line. */
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
  return `${JSON.stringify(redactValue(JSON.parse(line) as unknown, redact))}\n`;
}

export function createLog(options: LogOptions): OpenLog {
  const file = options.file === undefined ? undefined : gatherLines(openFile(options.file));
  const printed = options.print === "none" ? undefined : gatherLines(standardOutput);
  const redact = createRedactor(options.secrets);
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const destination = {
    write(line: string) {
      const safe = redactLine(line, redact);
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
  return { log, redact, close };
}
