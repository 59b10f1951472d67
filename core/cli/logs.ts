/** `logs`: prints the last lines of the gateway's log file, and new lines as they are written. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../contract/errors.ts";
import { renderLogLine } from "../log/log-line.ts";
import type { CommandContext } from "./context.ts";
import { parseSince } from "./output/times.ts";

interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly lines?: number;
  readonly since?: string;
  readonly level?: keyof typeof severities;
}

const severities = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;
const usualLines = 100;
/** How many bytes at the end of the file are searched for past lines, unless a time is given. */
const tailBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;
const lookEveryMs = 250;

export async function showLogs(context: CommandContext, _: readonly [], options: LogsOptions): Promise<number> {
  const directory = await context.stateDirectory();
  const file = join(directory, "logs", "gateway.log");
  if (!existsSync(file) && options.follow !== true) throw new HostError("log_missing", { file });
  const since = options.since === undefined ? undefined : parseSince(options.since, context.now());
  const print = printer(context, options);
  const past = existsSync(file) ? readPast(file, since) : { lines: [], end: 0 };
  const fitting = past.lines.filter((text) => fits(text, { least: leastOf(options), since }));
  // With a time given, all lines since then are shown.
  const { lines = since === undefined ? usualLines : fitting.length } = options;
  for (const line of fitting.slice(Math.max(0, fitting.length - lines))) print(line);
  if (options.follow === true) await follow(file, past.end, print);
  return 0;
}

const leastOf = ({ level }: LogsOptions): number => (level === undefined ? 0 : severities[level]);

function printer({ terminal }: CommandContext, options: LogsOptions): (line: string) => void {
  const colour = terminal.style("dim", "x") !== "x";
  return (line) => {
    if (!fits(line, { least: leastOf(options) })) return;
    terminal.line(options.json === true ? line : renderLogLine(line, { colour }).trimEnd());
  };
}

/** Skips broken lines, such as one torn by a crash. */
function fits(line: string, { least, since = 0 }: { readonly least: number; readonly since?: number | undefined }): boolean {
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

function readPast(file: string, since: number | undefined): Past {
  if (since === undefined) return readTail(file, tailBytes);
  const current = readTail(file, Number.POSITIVE_INFINITY);
  const earlier = `${file}.1`;
  if (!existsSync(earlier)) return current;
  return { ...current, lines: [...readTail(earlier, Number.POSITIVE_INFINITY).lines, ...current.lines] };
}

function readTail(file: string, bytes: number): Past {
  const { size } = statSync(file);
  const from = Math.max(0, size - bytes);
  const text = readRange(file, from, size);
  const whole = from === 0 ? text : text.slice(text.indexOf("\n") + 1);
  const complete = whole.slice(0, whole.lastIndexOf("\n") + 1);
  return { lines: complete.split("\n").filter((line) => line !== ""), end: size - Buffer.byteLength(whole.slice(complete.length)) };
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

/** Runs until it is interrupted. It polls, because a watcher misses changes on some file systems and the renaming of the file. */
async function follow(file: string, from: number, print: (line: string) => void): Promise<void> {
  let at = from;
  let inode = existsSync(file) ? statSync(file).ino : 0;
  for (;;) {
    await wait(lookEveryMs);
    if (!existsSync(file)) continue;
    const stat = statSync(file);
    // The log was rotated: the file is a new one.
    if (stat.ino !== inode || stat.size < at) at = 0;
    inode = stat.ino;
    while (at < stat.size) {
      const text = readRange(file, at, Math.min(at + chunkBytes, stat.size));
      const end = text.lastIndexOf("\n") + 1;
      if (end === 0 && text.length < chunkBytes) break;
      const lines = end === 0 ? text : text.slice(0, end);
      lines
        .split("\n")
        .filter((line) => line !== "")
        .forEach(print);
      at += Buffer.byteLength(lines);
    }
  }
}
