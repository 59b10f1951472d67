/**
 * What a state directory remembers about its database outside of the database: which one it is, and how many flushed commits it holds
 * at least. So a start notices a database that was lost, replaced or cut. The file is `state.json`.
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "./directory.ts";

export interface Identity {
  /** Random number that the database holds too. */
  readonly database: number;
  /** Commits of the database that were flushed: never more than it holds, unless something was taken from it. */
  readonly commits: number;
}

const fileOf = (directory: string) => join(directory, "state.json");

/** Fixed width, so that a new number of commits is one write in place. */
const render = ({ database, commits }: Identity): string =>
  `${JSON.stringify({ database: database.toString(16).padStart(12, "0"), commits: String(commits).padStart(16, "0") })}\n`;

/** Undefined where there is no such file, and where it cannot be understood: it then says nothing about the database. */
export function readIdentity(directory: string): Identity | undefined {
  try {
    const { database, commits } = JSON.parse(readFileSync(fileOf(directory), "utf8")) as Record<string, unknown>;
    const read = { database: Number.parseInt(String(database), 16), commits: Number.parseInt(String(commits), 10) };
    return Number.isSafeInteger(read.database) && Number.isSafeInteger(read.commits) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a gateway has used the directory: one of an earlier version leaves no `state.json`, and a token beside its database. */
export function wasUsed(directory: string): boolean {
  return ["state.json", "gateway-token"].some((name) => existsSync(join(directory, name)));
}

/** The next opening takes the database as it finds it. */
export function forgetIdentity(directory: string): void {
  rmSync(fileOf(directory), { force: true });
}

export interface IdentityRecord {
  /**
   * Call after the flush of the last of these commits. It is not flushed itself: a killed process leaves it as it is, and after a power cut it may be too
   * low, which only means that less is noticed.
   */
  note(commits: number): void;
  close(): void;
}

export function openIdentity(directory: string, identity: Identity): IdentityRecord {
  if (readIdentity(directory)?.database !== identity.database) writeWhole(fileOf(directory), render(identity));
  const descriptor = openSync(fileOf(directory), "r+");
  return {
    note(commits) {
      try {
        writeSync(descriptor, render({ ...identity, commits }), 0);
      } catch {
        // No room on the disk: the number stays too low.
      }
    },
    close: () => closeSync(descriptor),
  };
}
