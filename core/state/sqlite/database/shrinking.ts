/** Returns the space of removed rows to the disk, in small steps. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { WriteContext } from "./writer-database.ts";

const incremental = 2;
/** Larger databases are not rewritten at the start, because that takes about a second for each 100 MB. */
const maxRewriteBytes = 64 * 1024 * 1024;
/** Pages returned in one transaction, which takes a few milliseconds. */
const stepPages = 250;
/** Free pages to keep for new rows: at least this many, or this share of the file. */
const retainedPages = 1_000;
const retainedShare = 0.1;

const numberOf = (db: DatabaseSync, pragma: string) =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);

/** Enables shrinking for a new database, which must be decided before its first page is written. */
export function prepareForShrinking(db: DatabaseSync): void {
  if (numberOf(db, "page_count") === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
}

/**
 * Rewrites a small database of an earlier version so that it can shrink. For a large one, the operator runs `service
 * doctor --fix`.
 */
export function makeShrinkable(db: DatabaseSync): void {
  if (canShrink(db) || numberOf(db, "page_count") * numberOf(db, "page_size") > maxRewriteBytes) return;
  try {
    rewrite(db);
  } catch {
    // The disk has no room for a second copy, or another process is reading. The database works unchanged, and the next
    // start tries again.
  }
}

const canShrink = (db: DatabaseSync): boolean => numberOf(db, "auto_vacuum") === incremental;

/** Rewrites the database. Needs disk space for a copy, and no other writer. */
function rewrite(db: DatabaseSync): void {
  db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
}

function withDatabase<Result>(directory: string, readOnly: boolean, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(join(directory, "state.db"), { readOnly, timeout: 5_000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Size in bytes of the unused space in the file that pruning cannot return to the disk. */
export function lostRoom(directory: string): number {
  return withDatabase(directory, true, (db) =>
    canShrink(db) ? 0 : numberOf(db, "freelist_count") * numberOf(db, "page_size"),
  );
}

/** Rewrites the database to its smallest size and enables shrinking. No gateway may be using it. */
export function rewriteDatabase(directory: string): void {
  withDatabase(directory, false, rewrite);
}

export function shrinkWrites(context: WriteContext) {
  const count = (pragma: "auto_vacuum" | "page_count" | "freelist_count") =>
    Number(context.oneList<readonly [number]>(`PRAGMA ${pragma}`)?.[0] ?? 0);
  return {
    /** Performs one step. Returns whether there is more to do. */
    shrink(): boolean {
      if (count("auto_vacuum") !== incremental) return false;
      const excess = () =>
        count("freelist_count") - Math.max(retainedPages, Math.floor(count("page_count") * retainedShare));
      const pages = Math.min(excess(), stepPages);
      if (pages <= 0) return false;
      context.all(`PRAGMA incremental_vacuum(${pages})`);
      return excess() > 0;
    },
  };
}
