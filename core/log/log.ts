/** The log: JSON lines by pino, secrets removed by value; the only importer of pino. */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";
import { renderLogLine } from "./log-line.ts";
import { createRedactor } from "./redactor.ts";

export type Log = Logger;

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** A log file is renamed to `<file>.1` at this size, so that logs never fill a disk. */
const maxFileBytes = 10 * 1024 * 1024;

export interface LogOptions {
  readonly level: LogLevel;
  /** Values that must not appear in any line; read for each line, so that a secret that was just loaded counts. */
  readonly secrets: () => Iterable<string>;
  /** `human` for a terminal, `json` for machines, `none` when only the file is wanted. */
  readonly print: "human" | "json" | "none";
  /** Also written here as JSON, whatever `print` says. */
  readonly file?: string;
}

export interface OpenLog {
  readonly log: Log;
  /** Removes secrets from a text that goes elsewhere. */
  readonly redact: (text: string) => string;
  /** Writes what is buffered and closes the file. */
  close(): void;
}

/** Where lines go in the end. */
interface Sink {
  /** Whole lines. */
  write(lines: string): void;
  close(): void;
}

/** The process's own output, which others go on writing to. */
const standardOutput: Sink = { write: (lines) => void process.stdout.write(lines), close() {} };

function openFile(file: string): Sink {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const stream = pino.destination({ dest: file, append: true, sync: false, mode: 0o600 });
  let bytes = 0;
  let ended = false;
  try {
    bytes = statSync(file).size;
  } catch {
    // The file is made by the stream.
  }
  // A log must never be the reason why events stop: a full disk loses log lines, nothing else.
  stream.on("error", () => {});
  return {
    write(lines) {
      // A line more, from something that outlives the log.
      if (ended) return;
      bytes += Buffer.byteLength(lines);
      if (bytes > maxFileBytes) {
        bytes = Buffer.byteLength(lines);
        try {
          renameSync(file, `${file}.1`);
          stream.reopen();
        } catch {
          // The next line tries again.
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
        // Not open yet, or the disk is full.
      }
      stream.end();
    },
  };
}

/** The lines of one turn of the event loop are one write: under load, a write for each line costs more than making the line. */
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

export function createLog(options: LogOptions): OpenLog {
  const file = options.file === undefined ? undefined : gatherLines(openFile(options.file));
  const printed = options.print === "none" ? undefined : gatherLines(standardOutput);
  const redact = createRedactor(options.secrets);
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const destination = {
    write(line: string) {
      const safe = redact(line);
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
