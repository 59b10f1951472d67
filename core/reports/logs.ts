/** The last lines of the gateway's log file. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

export const severities = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;
/** How many bytes at the end of the file are searched for past lines, unless a time is given. */
const tailBytes = 1024 * 1024;

export const logFile = (stateDirectory: string): string => join(stateDirectory, "logs", "gateway.log");

/** Skips broken lines, such as one torn by a crash. */
export function fits(
  line: string,
  { least, since = 0 }: { readonly least: number; readonly since?: number | undefined },
): boolean {
  try {
    const { level, time } = JSON.parse(line) as { readonly level?: unknown; readonly time?: unknown };
    return Number(level) >= least && Number(time) >= since;
  } catch {
    return false;
  }
}

interface Past {
  readonly lines: readonly string[];
  /** Where the next read begins. */
  readonly end: number;
}

/**
 * Reads on in the file before this one if the end of it has too few lines: it may have just been rotated. `most`: so
 * many bytes are searched, the newest ones; the gateway does nothing else meanwhile.
 */
export function readPast(
  file: string,
  lines: number,
  fit: (line: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): Past {
  const tail = readTail(file, tailBytes);
  const fitting = tail.lines.filter(fit);
  if (fitting.length >= lines) return { ...tail, lines: fitting };
  const current = readTail(file, most);
  const rest = most - statSync(file).size;
  const earlier = rest > 0 && existsSync(`${file}.1`) ? readTail(`${file}.1`, rest).lines : [];
  return { ...current, lines: [...earlier, ...current.lines].filter(fit) };
}

function readTail(file: string, bytes: number): Past {
  const { size } = statSync(file);
  const from = Math.max(0, size - bytes);
  const text = readRange(file, from, size);
  const whole = from === 0 ? text : text.slice(text.indexOf("\n") + 1);
  const complete = whole.slice(0, whole.lastIndexOf("\n") + 1);
  return {
    lines: complete.split("\n").filter((line) => line !== ""),
    end: size - Buffer.byteLength(whole.slice(complete.length)),
  };
}

function readRange(file: string, from: number, to: number): string {
  const handle = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(Math.max(0, Math.min(to, fstatSync(handle).size) - from));
    const length = readSync(handle, buffer, 0, buffer.length, from);
    return buffer.toString("utf8", 0, length);
  } finally {
    closeSync(handle);
  }
}
