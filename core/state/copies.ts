/** Copies of the database beside it: the one to restore, and what is put aside. */
import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** What every SQLite file begins with. */
const magic = "SQLite format 3\0";
const database = "state.db";
const parts = ["", "-wal", "-shm"];

/** The first bytes of a file, fewer where it is shorter. */
export function firstBytes(file: string, length: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

export function isDatabase(header: Buffer): boolean {
  return header.toString("latin1", 0, magic.length) === magic;
}

/** The newest file in the state directory that is named after the database and is one, such as `state.db.backup`. */
function newestCopy(directory: string): string | undefined {
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith(`${database}.`) && !/(-wal|-shm|\.damaged)$/.test(name))
      .map((name) => join(directory, name))
      .filter((file) => isDatabase(firstBytes(file, magic.length)))
      .map((file) => ({ file, at: statSync(file).mtimeMs }))
      .toSorted((a, b) => b.at - a.at)[0]?.file;
  } catch {
    return undefined;
  }
}

/** The remedy for a state that is lost or damaged, as sentences. */
export function howToRestore(directory: string): string {
  const copy = newestCopy(directory);
  const found = copy === undefined ? "put a backup of it in its place (there is no copy in the directory)" : `copy ${copy} over it`;
  return `To restore state.db: ${found}, and delete state.db-wal and state.db-shm. Then, or to go on without a backup, start once with --accept-new-state.`;
}

/** Renames the database and its side files, so that the place is free for a new one. Returns the new name. */
export function putAside(directory: string, at: number): string {
  const stamp = new Date(at).toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const aside = join(directory, `${database}.${stamp}.damaged`);
  for (const part of parts) {
    const file = join(directory, `${database}${part}`);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    // Shared memory is rebuilt from the log.
    if (part === "-shm" || size === 0) rmSync(file, { force: true });
    else if (size !== undefined) renameSync(file, `${aside}${part}`);
  }
  return aside;
}
