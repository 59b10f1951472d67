/** One gateway for each state directory, by a lock that dies with its process. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HostError, reasonOf } from "../contract/index.ts";
import { firstBytes, isDatabase } from "./copies.ts";
import { prepareFile } from "./directory.ts";

export interface StateLock {
  release(): void;
}

const busy = 5;
/** Result codes of SQLite for a file that is not a database, or a damaged one. */
const garbage: ReadonlySet<number> = new Set([11, 26]);
const maxTimerMs = 2_147_483_647;

/**
 * The lock is an open exclusive transaction on a file of its own: the operating system drops it with the
 * process, however that ends, and SQLite refuses a second one in the same process too. The pid beside it is
 * for the message only. It is a separate file, because a process that opens and closes the locked one loses the lock.
 */
export function lockState(directory: string): StateLock {
  const file = prepareFile(directory, "lock.db");
  const pidFile = join(directory, "lock.pid");
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    if (code === busy) throw new HostError("state_locked", { directory, pid: readPid(pidFile) }, { cause: error });
    if (garbage.has(code)) throw lockDamaged(directory, reasonOf(error), error);
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
  // The garbage collector closes a connection without a reference. This timer never matters, and holds it until
  // the release, even when the caller drops what it was handed.
  const hold = setInterval(() => db.isOpen, maxTimerMs);
  hold.unref();
  return {
    release() {
      if (!db.isOpen) return;
      clearInterval(hold);
      // After the loss of the lock the file is its successor's.
      if (readPid(pidFile) === String(process.pid)) rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

/**
 * The process that holds the lock, as it wrote it down; `undefined` where none does. It asks the lock itself: a process id may be
 * another's by now.
 */
export function lockHolder(directory: string): number | undefined {
  const pid = Number(readPid(join(directory, "lock.pid")));
  if (!Number.isInteger(pid)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(join(directory, "lock.db"), { readOnly: true, timeout: 0 });
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    return code === busy ? pid : undefined;
  } finally {
    db?.close();
  }
}

/** What would keep a gateway from taking the lock, besides another gateway. */
export function lockProblem(directory: string): HostError | undefined {
  const file = join(directory, "lock.db");
  try {
    const header = firstBytes(file, 100);
    return header.length === 0 || isDatabase(header) ? undefined : lockDamaged(directory, "it contains something else");
  } catch {
    return undefined;
  }
}

const lockDamaged = (directory: string, reason: string, cause?: unknown) =>
  new HostError("state_lock_damaged", { directory, reason }, { cause });

function readPid(file: string): string {
  try {
    return readFileSync(file, "utf8").trim() || "unknown";
  } catch {
    return "unknown";
  }
}
