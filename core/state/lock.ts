/** One gateway for each state directory, by a lock that dies with its process. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HostError, reasonOf } from "../errors.ts";
import { prepareFile } from "./directory.ts";

export interface StateLock {
  release(): void;
}

const busy = 5;
const maxTimerMs = 2_147_483_647;

/**
 * The lock is an open exclusive transaction on a file of its own: the operating system drops it with the
 * process, however that ends, and SQLite refuses a second one in the same process too. The pid beside it is
 * for the message only. It is another file, because whoever opens and closes the locked one loses the lock.
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
    if (error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === busy) {
      throw new HostError("state_locked", { directory, pid: readPid(pidFile) }, { cause: error });
    }
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
  // The garbage collector closes a connection that nobody holds. This timer never matters, and holds it until
  // the release, even when the caller drops what it was handed.
  const hold = setInterval(() => db.isOpen, maxTimerMs);
  hold.unref();
  return {
    release() {
      if (!db.isOpen) return;
      clearInterval(hold);
      rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

function readPid(file: string): string {
  try {
    return readFileSync(file, "utf8").trim() || "unknown";
  } catch {
    return "unknown";
  }
}
