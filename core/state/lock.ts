/** Ensures that only one gateway uses a state directory. The lock is released when its process ends. */
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
/** SQLite's result codes for a damaged file or one that is not a database. */
const garbage: ReadonlySet<number> = new Set([11, 26]);
const maxTimerMs = 2_147_483_647;
/** A command that looks whether the lock is held holds it itself for a moment. */
const patienceMs = 100;

/**
 * Takes the lock: an open exclusive transaction on a separate file. The operating system releases it with the process,
 * however that ends, and SQLite also refuses a second one in the same process. The pid file only serves the error
 * message. The lock has its own file because a process loses the lock when it opens and closes the locked file.
 */
export function lockState(directory: string): StateLock {
  const file = prepareFile(directory, "lock.db");
  const pidFile = join(directory, "lock.pid");
  const db = new DatabaseSync(file, { timeout: patienceMs });
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
  // The garbage collector closes a connection without references. The timer itself does nothing, but it keeps a
  // reference until the release, even if the caller drops the returned object.
  const hold = setInterval(() => db.isOpen, maxTimerMs);
  hold.unref();
  return {
    release() {
      if (!db.isOpen) return;
      clearInterval(hold);
      // If the lock was lost, the file belongs to the next holder.
      if (readPid(pidFile) === String(process.pid)) rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

/**
 * The pid of the process that holds the lock; `undefined` if none does. It checks the lock itself, because the recorded
 * pid may have been reused.
 */
export function lockHolder(directory: string): number | undefined {
  const pid = Number(readPid(join(directory, "lock.pid")));
  return Number.isInteger(pid) && tryLock(directory) === "held" ? pid : undefined;
}

/** True only if no gateway uses the directory. If the lock cannot be read, one may. */
export function isLockFree(directory: string): boolean {
  return tryLock(directory) === "free";
}

function tryLock(directory: string): "held" | "free" | "unknown" {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(join(directory, "lock.db"), { readOnly: true, timeout: 0 });
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return "free";
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    return code === busy ? "held" : "unknown";
  } finally {
    db?.close();
  }
}

/**
 * The problem that would keep a gateway from taking the lock, other than another gateway; `undefined` if there is none.
 */
export function lockProblem(directory: string): HostError | undefined {
  const file = join(directory, "lock.db");
  try {
    const header = firstBytes(file, 100);
    return header.length === 0 || isDatabase(header) ? undefined : lockDamaged(directory, "it contains other data");
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
