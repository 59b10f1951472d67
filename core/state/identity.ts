/**
 * Records in the file `state.json` which database belongs to a state directory, and a lower bound for its flushed
 * commits. A start can thus detect that the database was lost, replaced or truncated.
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "./directory.ts";
import { isNode } from "./node-name.ts";

export interface Identity {
  /** A random number that the database contains, too. */
  readonly database: number;
  /** Number of flushed commits. The database never has fewer, unless part of it was lost. */
  readonly commits: number;
}

/** What the file says. */
export interface Recorded extends Identity {
  /** Identifies the run of the machine in which the database was opened last; absent if that is unknown. */
  readonly boot?: string;
}

const fileOf = (directory: string) => join(directory, "state.json");

/** Fixed width, so that a new number of commits is a single write in place. */
function render({ database, commits, boot }: Recorded): string {
  const fields = {
    database: database.toString(16).padStart(12, "0"),
    commits: String(commits).padStart(16, "0"),
    boot,
  };
  return `${JSON.stringify(fields)}\n`;
}

/**
 * What is in shared memory survives the end of a process, but not that of the machine. `undefined` where the system
 * does not tell.
 */
export function currentBoot(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * Reads the record; `undefined` if the file does not exist or is invalid, so that nothing is known about the database.
 */
export function readIdentity(directory: string): Recorded | undefined {
  try {
    const { database, commits, boot } = JSON.parse(readFileSync(fileOf(directory), "utf8")) as Record<string, unknown>;
    const read = {
      database: Number.parseInt(String(database), 16),
      commits: Number.parseInt(String(commits), 10),
      ...(typeof boot === "string" && { boot }),
    };
    return Number.isSafeInteger(read.database) && Number.isSafeInteger(read.commits) ? read : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a gateway has stored its state in the directory. An earlier version leaves no `state.json`, but a token next
 * to its database; a gateway whose database is elsewhere leaves a token too.
 */
export function wasUsed(directory: string): boolean {
  if (existsSync(fileOf(directory))) return true;
  return existsSync(join(directory, "gateway-token")) && !isNode(directory);
}

/** Deletes the record, so that the next start accepts the database as it is. */
export function forgetIdentity(directory: string): void {
  rmSync(fileOf(directory), { force: true });
}

export interface IdentityRecord {
  /**
   * Call it after the flush of the last of these commits. The record itself is not flushed: it survives a killed
   * process. After a power cut the number may be too low, which only means that fewer losses are detected.
   */
  note(commits: number): void;
  close(): void;
}

/**
 * Records that commits are missing, so that each later start finds that out too: opening the database rebuilds the
 * index that shows it.
 */
export function recordMissing(directory: string, identity: Identity): void {
  const boot = currentBoot();
  writeWhole(fileOf(directory), render({ ...identity, ...(boot !== undefined && { boot }) }));
}

export function openIdentity(directory: string, known: Identity): IdentityRecord {
  const boot = currentBoot();
  const identity: Recorded = { ...known, ...(boot !== undefined && { boot }) };
  const before = readIdentity(directory);
  if (before?.database !== identity.database || before.boot !== boot) writeWhole(fileOf(directory), render(identity));
  const descriptor = openSync(fileOf(directory), "r+");
  return {
    note(commits) {
      try {
        writeSync(descriptor, render({ ...identity, commits }), 0);
      } catch {
        // The disk is full, so the number stays too low.
      }
    },
    close: () => closeSync(descriptor),
  };
}
