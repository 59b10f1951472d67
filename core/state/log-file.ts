/**
 * The write-ahead log and its index, read as files. The index (`-shm`) is shared memory that outlives a killed process,
 * and SQLite updates it in each commit: it says how long the log must be, at no cost for the commit.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** https://www.sqlite.org/walformat.html, 2.1: two copies of a header, then what checkpoints have copied. */
const headerBytes = 48;
const at = { isInitialized: 12, frames: 16, salt: 32, copied: 96 } as const;
/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const log = { headerBytes: 32, frameHeaderBytes: 24, pageSize: 8, salt: 16 } as const;
/** A checkpoint may shorten a longer log to this length. */
const sizeLimit = 67_108_864;

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** What an earlier process left. */
export interface LeftLog {
  /** Number of frames that belong to commits. */
  readonly frames: number;
  /** How many of them a checkpoint has copied into the database. */
  readonly copied: number;
  /** Identifies the content of the log; it changes when the log restarts at its beginning. */
  readonly salt: string;
  /** The log is the one that the index describes. */
  readonly isOwn: boolean;
}

function firstBytes(file: string, length: number): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return undefined;
  }
  try {
    return bytesAt(descriptor, 0, length);
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function bytesAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

/** `undefined` if there is no usable index, such as after an orderly close. */
function readIndex(database: string): Omit<LeftLog, "isOwn"> | undefined {
  const bytes = firstBytes(`${database}-shm`, at.copied + 4);
  if (bytes === undefined || bytes.length < at.copied + 4 || bytes[at.isInitialized] !== 1) return undefined;
  // A process that was killed between the two copies leaves them different.
  if (!bytes.subarray(0, headerBytes).equals(bytes.subarray(headerBytes, 2 * headerBytes))) return undefined;
  const number = (offset: number) => (isLittleEndian ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset));
  return {
    frames: number(at.frames),
    copied: number(at.copied),
    salt: bytes.subarray(at.salt, at.salt + 8).toString("hex"),
  };
}

function saltOfLog(database: string): string | undefined {
  const bytes = firstBytes(`${database}-wal`, log.headerBytes);
  return bytes?.length === log.headerBytes ? bytes.subarray(log.salt, log.salt + 8).toString("hex") : undefined;
}

/**
 * To be read before this process opens the database: opening it rebuilds the index, and a process that closes the file
 * of the index loses the locks of its connections. Another running process may restart the log at any time.
 */
export function readLeftLog(database: string): LeftLog | undefined {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const index = readIndex(database);
    if (index === undefined) return undefined;
    const isOwn = saltOfLog(database) === index.salt;
    if (readIndex(database)?.salt === index.salt) return { ...index, isOwn };
  }
  return undefined;
}

/** Whether commits of the log are gone that the index mentions. `found`: how many frames SQLite has found since. */
export function isLogCut(database: string, left: LeftLog | undefined, found: number): boolean {
  // What a checkpoint has copied is in the database.
  if (left === undefined || left.frames <= left.copied) return false;
  if (!left.isOwn) return true;
  // A running process has restarted the log since, so all of it had been copied.
  if (saltOfLog(database) !== left.salt && found > 0) return false;
  return found < left.frames;
}

/**
 * Whether a log that is in use has become shorter, or has a hole where it was cut and then written to. A checkpoint
 * leaves it empty or as long as it was, unless it is very long.
 */
export function createLogWatch(file: string): () => boolean {
  let before = { salt: "", size: 0 };

  function look(descriptor: number): boolean {
    const { size } = fstatSync(descriptor);
    const header = bytesAt(descriptor, 0, log.headerBytes);
    if (size === 0 || header.length < log.headerBytes) {
      before = { salt: "", size };
      return false;
    }
    const salt = header.subarray(log.salt, log.salt + 8).toString("hex");
    const wasSame = salt === before.salt;
    const from = wasSame ? before.size : 0;
    const isShorter = wasSame && size < Math.min(before.size, sizeLimit);
    before = { salt, size };
    return isShorter || hasHole(descriptor, { from, to: size, pageSize: header.readUInt32BE(log.pageSize) });
  }

  return () => {
    let descriptor: number;
    try {
      descriptor = openSync(file, "r");
    } catch {
      return false;
    }
    try {
      return look(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
}

/** One call that reads frames with their pages costs less than one call for each of their headers. */
const framesAtOnce = 16;

/**
 * A frame without a salt was never written. Begins with the last frame before `from`, which a cut would have taken
 * first.
 */
function hasHole(
  descriptor: number,
  { from, to, pageSize }: { readonly from: number; readonly to: number; readonly pageSize: number },
): boolean {
  const step = log.frameHeaderBytes + pageSize;
  const frameAt = (size: number) => Math.floor((size - log.headerBytes) / step);
  const end = frameAt(to);
  for (let frame = Math.max(0, frameAt(from) - 1); frame < end; frame += framesAtOnce) {
    const frames = Math.min(framesAtOnce, end - frame);
    const bytes = bytesAt(descriptor, log.headerBytes + frame * step, frames * step);
    for (let index = 0; index < frames; index += 1) if (!hasSalt(bytes, index * step + 8)) return true;
  }
  return false;
}

/** What was cut off meanwhile has none. */
const hasSalt = (bytes: Buffer, offset: number): boolean =>
  offset + 8 <= bytes.length && (bytes.readUInt32LE(offset) !== 0 || bytes.readUInt32LE(offset + 4) !== 0);
