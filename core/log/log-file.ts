/**
 * The file of the log. It never stops the process or grows its memory, and its name always leads to the newest lines.
 */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, statSync, write, writeSync } from "node:fs";
import { dirname } from "node:path";

/** The destination of the lines. */
export interface Sink {
  /** Writes complete lines. */
  write(lines: string): void;
  close(): void;
}

/** At this size, a log file is renamed to `<file>.1`, so that logs never fill a disk. */
const maxFileBytes = 10 * 1024 * 1024;
/** How much waits in memory for a disk that is slow or full. Lines beyond that are lost. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** How often a file that was moved or removed, or that cannot be written, is opened again. */
const lookEveryMs = 1_000;

interface OpenFile {
  readonly handle: number;
  readonly device: number;
  readonly inode: number;
  bytes: number;
}

export function openLogFile(file: string): Sink {
  let opened = open(file);
  let lookedLately = false;
  /** What is being written, and what waits behind it. */
  let inFlight: Buffer | undefined;
  let waiting: readonly Buffer[] = [];
  let ended = false;

  const closeFile = () => {
    if (opened !== undefined) closeSync(opened.handle);
    opened = undefined;
  };
  /** The file to write to; absent while there is none that can be written. */
  function target(length: number): OpenFile | undefined {
    const isFull = opened !== undefined && opened.bytes > 0 && opened.bytes + length > maxFileBytes;
    if (isFull ? isUnderItsName(file, opened) && !rename(file) : lookedLately) return opened;
    lookedLately = true;
    setTimeout(lookAgain, lookEveryMs).unref();
    if (isFull || !isUnderItsName(file, opened)) closeFile();
    opened ??= open(file);
    return opened;
  }
  function lookAgain(): void {
    lookedLately = false;
    writeNext();
  }
  function writeNext(): void {
    if (ended || inFlight !== undefined || waiting.length === 0) return;
    const lines = Buffer.concat(waiting);
    const to = target(lines.length);
    if (to === undefined) return;
    waiting = [];
    inFlight = lines;
    write(to.handle, lines, (error, written) => {
      inFlight = undefined;
      to.bytes += written;
      if (ended || error !== null) closeFile();
      // A full disk takes a part of the lines, and the rest when there is room again.
      if (written < lines.length) waiting = [lines.subarray(written), ...waiting];
      writeNext();
    });
  }
  return {
    write(lines) {
      // A late line from code that outlives the log.
      if (ended) return;
      const bytes = Buffer.from(lines);
      if (waiting.reduce((sum, { length }) => sum + length, bytes.length + (inFlight?.length ?? 0)) > maxWaitingBytes)
        return;
      waiting = [...waiting, bytes];
      writeNext();
    },
    close() {
      if (ended) return;
      ended = true;
      if (opened !== undefined) writeAll(opened.handle, Buffer.concat(waiting));
      // Otherwise the write in flight closes the file.
      if (inFlight === undefined) closeFile();
    },
  };
}

function open(file: string): OpenFile | undefined {
  try {
    // Not the directory above: when that is gone, so is the state, and what is left of it must not look like one.
    if (!existsSync(dirname(file))) mkdirSync(dirname(file), { mode: 0o700 });
    const handle = openSync(file, "a", 0o600);
    const { size, dev, ino } = fstatSync(handle);
    return { handle, device: dev, inode: ino, bytes: size };
  } catch {
    // Logging must never stop events. The file is tried again later.
    return undefined;
  }
}

/** False for a file that was moved or removed, by hand or by a program that rotates logs. */
function isUnderItsName(file: string, opened: OpenFile | undefined): boolean {
  try {
    const { dev, ino } = statSync(file);
    return opened !== undefined && dev === opened.device && ino === opened.inode;
  } catch {
    return false;
  }
}

function rename(file: string): boolean {
  try {
    renameSync(file, `${file}.1`);
    return true;
  } catch {
    // The next lines try it again.
    return false;
  }
}

function writeAll(handle: number, lines: Buffer): void {
  try {
    for (let at = 0; at < lines.length; ) at += writeSync(handle, lines, at);
  } catch {
    // The disk is full.
  }
}
