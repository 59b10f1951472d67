/** A consistent copy of the database while a gateway writes to it, by SQLite's online backup. */
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { HostError, reasonOf } from "../../contract/index.ts";
import { damaged, examineTables } from "./database/examine.ts";
import { knownVersion } from "./database/migrations.ts";
import { openReader } from "./reader.ts";

/** One step of the copy: long enough to be fast, short enough that its progress can be shown. */
const pagesInStep = 2_000;

export interface Snapshot {
  /** Version of the tables. */
  readonly schema: number;
}

/** The newest version of the tables that this program can open. */
export const knownSchema = knownVersion;

/**
 * Copies the database of a state directory to a new file: what was committed before the call is in the copy. Writers do
 * not wait for it, and this thread does not wait for the disk, except to check the copy. Throws `state_damaged` if
 * SQLite finds a fault in the copy.
 */
export async function snapshotDatabase({
  directory,
  target,
  leaveOut,
  onProgress = () => {},
}: {
  readonly directory: string;
  readonly target: string;
  /** Namespaces of key-value data that the copy does not get. */
  readonly leaveOut: readonly string[];
  readonly onProgress?: (done: number, total: number) => void;
}): Promise<Snapshot> {
  // Never opened as a plain file: closing that would release the locks of this process, which may be the gateway.
  const db = openReader(join(directory, "state.db"), directory);
  try {
    // The open transaction holds the state of this moment. Without it, SQLite would begin again after each commit of
    // another process, and never end beside a busy gateway.
    db.exec("BEGIN");
    const schema = Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
    examineTables(db, { directory, used: true });
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
      onProgress(totalPages - remainingPages, totalPages);
    await backup(db, target, { rate: pagesInStep, progress });
    finishCopy(target, { directory, leaveOut });
    return { schema };
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  } finally {
    db.close();
  }
}

function finishCopy(
  file: string,
  { directory, leaveOut }: { readonly directory: string; readonly leaveOut: readonly string[] },
): void {
  const copy = new DatabaseSync(file);
  try {
    const remove = copy.prepare("DELETE FROM kv WHERE namespace = ?");
    for (const namespace of leaveOut) remove.run(namespace);
    // One file, without a log beside it. The next gateway switches the log on again.
    copy.exec("PRAGMA journal_mode = DELETE");
    const found = String(copy.prepare("PRAGMA quick_check(1)").get()?.quick_check);
    if (found !== "ok") throw damaged(directory, `SQLite finds a fault in it: ${found}`);
  } finally {
    copy.close();
  }
}
