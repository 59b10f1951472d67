/** `logs`: prints the last lines of the gateway's log file, and new lines as they are written. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../contract/errors.ts";
import { renderLogLine } from "../log/log-line.ts";
import { escapeJson } from "../log/visible.ts";
import { fits, logFile, readPast, severities } from "../reports/logs.ts";
import type { CommandContext } from "./context.ts";
import { parseSince } from "./output/times.ts";
import { requireAccess } from "./running-gateway.ts";

interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly lines?: number;
  readonly since?: string;
  readonly level?: keyof typeof severities;
}

const usualLines = 100;
const chunkBytes = 64 * 1024;
const lookEveryMs = 250;

export async function showLogs(context: CommandContext, _: readonly [], options: LogsOptions): Promise<number> {
  const directory = await context.stateDirectory();
  requireAccess(directory);
  const file = logFile(directory);
  if (!existsSync(file) && options.follow !== true) throw new HostError("log_missing", { file });
  const since = options.since === undefined ? undefined : parseSince(options.since, context.now());
  const print = printer(context, options);
  const wanted = { least: leastOf(options), since };
  // With a time given, all lines since then are shown.
  const { lines = since === undefined ? usualLines : Number.POSITIVE_INFINITY } = options;
  const past = existsSync(file) ? readPast(file, lines, (text) => fits(text, wanted)) : { lines: [], end: 0 };
  for (const line of past.lines.slice(Math.max(0, past.lines.length - lines))) print(line);
  if (options.follow === true) await follow(file, past.end, print);
  return 0;
}

const leastOf = ({ level }: LogsOptions): number => (level === undefined ? 0 : severities[level]);

function printer({ terminal }: CommandContext, options: LogsOptions): (line: string) => void {
  const colour = terminal.style("dim", "x") !== "x";
  return (line) => {
    if (!fits(line, { least: leastOf(options) })) return;
    terminal.line(options.json === true ? escapeJson(line) : renderLogLine(line, { colour }).trimEnd());
  };
}

/**
 * Runs until it is interrupted. It polls, because a watcher misses changes on some file systems and the renaming of the
 * file.
 */
async function follow(file: string, from: number, print: (line: string) => void): Promise<void> {
  let followed = openFollowed(file, from);
  let isReplaced = false;
  for (;;) {
    await wait(lookEveryMs);
    const current = statSync(file, { throwIfNoEntry: false });
    if (followed !== undefined) printNew(followed, print);
    if (current === undefined || (current.ino === followed?.inode && current.dev === followed.device)) continue;
    // The gateway may still write its last lines to the file that was rotated: they are read at the next look.
    if (followed !== undefined && !isReplaced) isReplaced = true;
    else {
      if (followed !== undefined) closeSync(followed.handle);
      followed = openFollowed(file, 0);
      isReplaced = false;
      if (followed !== undefined) printNew(followed, print);
    }
  }
}

interface Followed {
  /** Leads to the same file after that was renamed or removed. */
  readonly handle: number;
  readonly device: number;
  readonly inode: number;
  at: number;
  /** The beginning of a line whose end is not written yet. */
  rest: readonly Buffer[];
}

function openFollowed(file: string, at: number): Followed | undefined {
  try {
    const handle = openSync(file, "r");
    const { dev, ino } = fstatSync(handle);
    return { handle, device: dev, inode: ino, at, rest: [] };
  } catch {
    return undefined;
  }
}

function printNew(followed: Followed, print: (line: string) => void): void {
  // The file was emptied.
  if (fstatSync(followed.handle).size < followed.at) Object.assign(followed, { at: 0, rest: [] });
  for (;;) {
    const chunk = Buffer.alloc(chunkBytes);
    const length = readSync(followed.handle, chunk, 0, chunkBytes, followed.at);
    if (length === 0) return;
    followed.at += length;
    const end = chunk.lastIndexOf("\n", length - 1) + 1;
    if (end > 0) {
      const lines = Buffer.concat([...followed.rest, chunk.subarray(0, end)]).toString("utf8");
      followed.rest = [];
      for (const line of lines.split("\n")) if (line !== "") print(line);
    }
    if (end < length) followed.rest = [...followed.rest, chunk.subarray(end, length)];
  }
}
