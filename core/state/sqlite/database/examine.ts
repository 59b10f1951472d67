/** Examines an existing database before anything is written to it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { HostError, reasonOf } from "../../../contract/index.ts";
import { firstBytes, howToRestore, isDatabase } from "../../copies.ts";
import { wasUsed } from "../../identity.ts";
import { knownVersion } from "./migrations.ts";

const headerBytes = 100;
/** Format of the write-ahead log, https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const walHeaderBytes = 32;
const frameHeaderBytes = 24;

const withRemedy = (
  code: "state_lost" | "state_damaged" | "state_foreign" | "state_replaced",
  directory: string,
  reason: string,
) => new HostError(code, { directory, reason, restore: howToRestore(directory) });

export const damaged = (directory: string, reason: string): HostError => withRemedy("state_damaged", directory, reason);
export const replaced = (directory: string, reason: string): HostError =>
  withRemedy("state_replaced", directory, reason);

export function behind(
  directory: string,
  { missing, commits }: { readonly missing: number; readonly commits: number },
): HostError {
  return new HostError("state_behind", { directory, missing, commits, restore: howToRestore(directory) });
}

/**
 * Throws if the file is not a database, is truncated, or is missing or empty although the directory was used. SQLite
 * would create a new database, or notice the damage too late.
 */
export function examineFile(directory: string): void {
  const file = join(directory, "state.db");
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) {
    // SQLite creates a log only for a database with content.
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (!wasUsed(directory) && log === 0) return;
    throw withRemedy("state_lost", directory, size === undefined ? "state.db does not exist" : "state.db is empty");
  }
  const header = readHeader(file, directory);
  if (!isDatabase(header)) throw withRemedy("state_foreign", directory, "it is not an SQLite database");
  if (header.length < headerBytes) throw damaged(directory, `state.db was cut to ${size} bytes`);
  const { pageSize, pages } = sizesIn(header);
  const whole = Math.floor(size / pageSize);
  if (whole >= pages || logHolds(`${file}-wal`, { pageSize, from: whole + 1, to: pages })) return;
  throw damaged(directory, `state.db was cut to ${whole} of ${pages} pages`);
}

function readHeader(file: string, directory: string): Buffer {
  try {
    return firstBytes(file, headerBytes);
  } catch (error) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
}

function sizesIn(header: Buffer): { readonly pageSize: number; readonly pages: number } {
  const stored = header.readUInt16BE(16);
  // The page count is valid only if the file's change counter equals the version-valid-for number.
  const valid = header.readUInt32BE(24) === header.readUInt32BE(92);
  return { pageSize: stored === 1 ? 65_536 : stored, pages: valid ? header.readUInt32BE(28) : 0 };
}

/** Whether the log contains the missing pages. A process killed during a checkpoint leaves a file that is too short. */
function logHolds(
  file: string,
  { pageSize, from, to }: { readonly pageSize: number; readonly from: number; readonly to: number },
): boolean {
  if (!existsSync(file)) return false;
  const log = readFileSync(file);
  const saltOf = (at: number) => log.subarray(at, at + 8).toString("hex");
  const salt = saltOf(16);
  const step = frameHeaderBytes + pageSize;
  if (to - from >= log.length / step) return false;
  const missing = new Set(Array.from({ length: to - from + 1 }, (_, index) => from + index));
  for (let at = walHeaderBytes; at + step <= log.length && saltOf(at + 8) === salt; at += step)
    missing.delete(log.readUInt32BE(at));
  return missing.size === 0;
}

/** Tables of the first version. Later tables are listed with the schema version that added them. */
const firstTables = [
  "numbers",
  "inbox",
  "dedupe",
  "units",
  "decisions",
  "outbox",
  "sent",
  "sessions",
  "messages",
  "kv",
];
const laterTables: Readonly<Record<string, number>> = { transcripts: 6, model_calls: 7, summaries: 8 };

export function tablesOf(version: number): readonly string[] {
  return [...firstTables, ...Object.keys(laterTables).filter((table) => (laterTables[table] ?? 0) <= version)];
}

/**
 * Throws if the database belongs to another program, has lost its tables, or lacks one. Returns false if it is new.
 * `used`: a gateway has used this directory.
 */
export function examineTables(
  db: DatabaseSync,
  { directory, used }: { readonly directory: string; readonly used: boolean },
): boolean {
  const version = Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
  const found = new Set(
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => String(name)),
  );
  const missing = tablesOf(version).filter((table) => !found.has(table));
  if (found.size === 0 && version === 0) {
    if (used) throw withRemedy("state_lost", directory, "state.db contains no tables");
    return false;
  }
  if (missing.length === tablesOf(version).length)
    throw withRemedy("state_foreign", directory, "it is the database of another program");
  // A newer version may have renamed tables; it is rejected elsewhere, with the right reason.
  if (missing.length > 0 && version <= knownVersion)
    throw damaged(
      directory,
      `${missing.length === 1 ? "the table" : "the tables"} ${missing.join(", ")} cannot be found`,
    );
  return true;
}
