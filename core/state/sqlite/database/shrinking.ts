/** Gives the room of removed rows back to the disk, in small steps. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { WriteContext } from "./writer-database.ts";

const incremental = 2;
/** A larger database is not rewritten at a start: that takes a second for each 100 MB. */
const maxRewriteBytes = 64 * 1024 * 1024;
/** Pages given back in one transaction: a few milliseconds. */
const stepPages = 250;
/** Free pages that stay, because the next rows need them: at least so many, or this share of the file. */
const keptPages = 1_000;
const keptShare = 0.1;

const numberOf = (db: DatabaseSync, pragma: string) => Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);

/** A database says at its beginning whether it can shrink. */
export function prepareForShrinking(db: DatabaseSync): void {
  if (numberOf(db, "page_count") === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
}

/**
 * Rewrites a small database of an earlier version so that it can shrink. A large one stays as it is; `service doctor --fix` rewrites it.
 */
export function makeShrinkable(db: DatabaseSync): void {
  if (canShrink(db) || numberOf(db, "page_count") * numberOf(db, "page_size") > maxRewriteBytes) return;
  try {
    rewrite(db);
  } catch {
    // No room for a second copy, or another process reads: it works as it is, and the next start tries again.
  }
}

const canShrink = (db: DatabaseSync): boolean => numberOf(db, "auto_vacuum") === incremental;

/** Needs room for a copy of the database, and no other writer. */
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

/** Bytes of the file that hold nothing, and that no prune gives back to the disk. */
export function lostRoom(directory: string): number {
  return withDatabase(directory, true, (db) => (canShrink(db) ? 0 : numberOf(db, "freelist_count") * numberOf(db, "page_size")));
}

/** Rewrites the database so that it is as small as it can be, and shrinks from then on. No gateway runs on it. */
export function rewriteDatabase(directory: string): void {
  withDatabase(directory, false, rewrite);
}

export function shrinkWrites(context: WriteContext) {
  const count = (pragma: "auto_vacuum" | "page_count" | "freelist_count") =>
    Number(context.oneList<readonly [number]>(`PRAGMA ${pragma}`)?.[0] ?? 0);
  return {
    /** One step; resolves with whether there is more to give back. */
    shrink(): boolean {
      if (count("auto_vacuum") !== incremental) return false;
      const excess = () => count("freelist_count") - Math.max(keptPages, Math.floor(count("page_count") * keptShare));
      const pages = Math.min(excess(), stepPages);
      if (pages <= 0) return false;
      context.all(`PRAGMA incremental_vacuum(${pages})`);
      return excess() > 0;
    },
  };
}
