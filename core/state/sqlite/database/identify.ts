/** Compares a database with the record in its directory. */
import type { DatabaseSync } from "node:sqlite";
import { currentBoot, type Identity, readIdentity, recordMissing } from "../../identity.ts";
import { isLogCut, type LeftLog } from "../../log-file.ts";
import { behind, replaced } from "./examine.ts";

const largest = 2 ** 47;
/** The database draws the number, because to load `node:crypto` would be a sixth of the thread's start. */
const drawn = `1 + abs(random() % ${largest - 1})`;

function numberIn(db: DatabaseSync, name: string): number | undefined {
  const row = db.prepare("SELECT value FROM numbers WHERE name = ?").get(name);
  return row === undefined ? undefined : Number(row.value);
}

const read = (db: DatabaseSync) => ({ database: numberIn(db, "identity"), commits: numberIn(db, "commits") ?? 0 });

/** Throws if the record names another database or more commits. The database's tables must exist. */
export function examineIdentity(db: DatabaseSync, directory: string): void {
  // The record is read first, because other processes only add commits to the database.
  const known = readIdentity(directory);
  if (known === undefined) return;
  const { database, commits } = read(db);
  if (database === undefined) throw replaced(directory, "an earlier version wrote it");
  if (database !== known.database) throw replaced(directory, "it belongs to another installation");
  if (commits < known.commits) throw behind(directory, { missing: known.commits - commits, commits: known.commits });
}

/**
 * Throws if commits are gone that the index of the log mentions, which a killed process left. `before`: the index
 * before the database was opened, because opening it rebuilds the index.
 */
export function examineLog(
  db: DatabaseSync,
  {
    directory,
    file,
    before,
  }: { readonly directory: string; readonly file: string; readonly before: LeftLog | undefined },
): void {
  const known = readIdentity(directory);
  // After a power cut the index may be newer than the log: then it says nothing.
  if (known?.boot === undefined || known.boot !== currentBoot()) return;
  const { database, commits } = read(db);
  const found = Number(db.prepare("PRAGMA wal_checkpoint(NOOP)").get()?.log ?? 0);
  if (database !== known.database || !isLogCut(file, before, found)) return;
  const lost = { database, commits: Math.max(known.commits, commits + 1) };
  recordMissing(directory, lost);
  throw behind(directory, { missing: lost.commits - commits, commits: lost.commits });
}

/** Assigns an identity to a database that is new or of an earlier version. */
export function identify(db: DatabaseSync): Identity {
  const { database, commits } = read(db);
  if (database !== undefined) return { database, commits };
  // Another process may be doing the same.
  db.exec(`INSERT OR IGNORE INTO numbers (name, value) VALUES ('identity', ${drawn})`);
  return { database: read(db).database ?? 0, commits };
}
