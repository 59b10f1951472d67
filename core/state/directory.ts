/** Creates the state directory and its files, readable only by the owner. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { HostError, reasonOf } from "../contract/index.ts";

/**
 * Flushes a directory. A new directory survives a power cut only if its parent is flushed; SQLite does this for its own
 * files.
 */
export function flushDirectory(directory: string): void {
  // Windows cannot open directories and does not need this flush.
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Gives a new file or directory, by its path or descriptor, the owner of another one. Administrators run commands as
 * root beside a gateway with a user of its own, which must be able to read what they write. SQLite does the same with
 * its files.
 */
export function ownLike(target: string | number, { uid, gid }: Pick<Stats, "uid" | "gid">): void {
  if (process.geteuid?.() !== 0) return;
  if (typeof target === "number") fchownSync(target, uid, gid);
  else lchownSync(target, uid, gid);
}

/**
 * Creates the parents one by one. Node's recursive option never returns on file systems that report "not found" for
 * every new directory, such as /proc.
 */
export function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(directory);
  makeDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
    ownLike(directory, statSync(parent));
  } catch (error) {
    // Another process created it first.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
  flushDirectory(parent);
}

/** Of the file system, and of the database for a write that the disk had no room for. */
const noRoom: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "state_full"]);

/**
 * The error of a start on a full disk, which names the directory and what to do; other errors are returned unchanged.
 */
export function startError(error: unknown, directory: string): unknown {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (noRoom.has((cause as NodeJS.ErrnoException).code))
      return new HostError("state_no_room", { directory }, { cause: error });
  return error;
}

/**
 * Creates the directory and an empty file in it if they do not exist. SQLite gives its side files the mode of the main
 * file.
 */
export function prepareFile(directory: string, name: string): string {
  const file = join(directory, name);
  try {
    makeDirectory(directory);
    chmodSync(directory, 0o700);
    // A process that closes a file loses its locks on it, so existing files are not opened.
    if (!existsSync(file)) {
      closeSync(openSync(file, "a", 0o600));
      ownLike(file, statSync(directory));
    }
    chmodSync(file, 0o600);
  } catch (error) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
  return file;
}

/**
 * Writes a file atomically: to a temporary file that is flushed and then renamed. Its mode is 0600, and its owner that
 * of its directory, unless `like` has others.
 */
export function writeWhole(file: string, text: string, like?: Pick<Stats, "mode" | "uid" | "gid">): void {
  // The name is always the same, so that what a killed process left is removed. A link in its place is not followed.
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    if (like !== undefined) fchmodSync(descriptor, like.mode & 0o777);
    ownLike(descriptor, like ?? statSync(dirname(file)));
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
}
