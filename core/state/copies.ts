/** Copies of the database in its directory: finds one to restore, and moves a damaged database aside. */
import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** The first bytes of every SQLite file. */
const magic = "SQLite format 3\0";
const database = "state.db";
const parts = ["", "-wal", "-shm"];

/** The first bytes of a file; fewer if the file is shorter. */
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

/**
 * The newest SQLite file in the state directory whose name begins with that of the database, such as `state.db.backup`.
 */
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

/** Explains how to recover from a lost or damaged state, as sentences. */
export function howToRestore(directory: string): string {
  const copy = newestCopy(directory);
  const found =
    copy === undefined ? "put a backup of it in its place (there is no copy in the directory)" : `copy ${copy} over it`;
  return (
    `To restore state.db: ${found}, and delete state.db-wal and state.db-shm. Then start once with ` +
    "--accept-new-state, which also continues without a backup."
  );
}

/** Renames the database and its side files to make room for a new one. Returns the new name. */
export function putAside(directory: string, at: number): string {
  const stamp = new Date(at).toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const aside = join(directory, `${database}.${stamp}.damaged`);
  for (const part of parts) {
    const file = join(directory, `${database}${part}`);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    // The shared memory file is rebuilt from the log.
    if (part === "-shm" || size === 0) rmSync(file, { force: true });
    else if (size !== undefined) renameSync(file, `${aside}${part}`);
  }
  return aside;
}
