/**
 * Checks whether a gateway still owns its state: no other gateway has taken it over, and its files are the ones it
 * opened.
 */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import { createLogWatch, type Store } from "../state/index.ts";
import { filesOf, logOf, type StatePlace } from "../stores/index.ts";

const everyMs = 2_000;
/** How long the end waits until the commits of a lost log are in the database. */
const saveMs = 5_000;

const numberOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

function openedFile(directory: string, name: string) {
  const path = join(directory, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { name, path, number: numberOf(path), hasContent: size > 0 };
}

/**
 * Calls back once, with what was lost. The store's fence already rejects commits of the old owner; this ends the
 * process.
 */
export function watchOwnership({
  store,
  fence,
  place,
  log,
  cleanup,
  onLost,
}: {
  readonly store: Pick<Store, "fence" | "close">;
  /** The value that `begin` resolved with. */
  readonly fence: number;
  readonly place: StatePlace;
  readonly log: Pick<Log, "fatal" | "warn">;
  readonly cleanup: AsyncDisposableStack;
  readonly onLost: (error: HostError) => void;
}): void {
  // A file keeps its inode number when it is written to; a replacement has another one.
  const { directory } = place;
  const opened = ["lock.db", ...filesOf(place)].map((name) => openedFile(directory, name));

  const gone = (name: string, how = "removed or replaced") =>
    new HostError("state_gone", { directory, reason: `${name} was ${how}` });
  const journal = logOf(place);
  const isLogCut = journal === undefined ? () => false : createLogWatch(join(directory, journal));
  let logNumber = journal === undefined ? undefined : numberOf(join(directory, journal));

  /**
   * The log of the database is checked last: what it holds can be saved only while the other files are the gateway's
   * own.
   */
  async function lossOfLog(name: string): Promise<HostError | undefined> {
    const now = await stat(join(directory, name), { bigint: true }).catch((error: NodeJS.ErrnoException) => error);
    // SQLite creates it with the first commit.
    if (logNumber === undefined) logNumber = now instanceof Error ? undefined : now.ino;
    if (logNumber === undefined || (now instanceof Error && now.code !== "ENOENT")) return undefined;
    if (now instanceof Error || now.ino !== logNumber) {
      await save(name);
      return gone(name);
    }
    return isLogCut() ? gone(name, "cut") : undefined;
  }

  /** The store still has the file open, and copies what it holds into the database when it closes. */
  async function save(name: string): Promise<void> {
    const saved = store.close().then(
      () => true,
      () => false,
    );
    if (await Promise.race([saved, wait(saveMs, false, { ref: false })]))
      log.warn({ file: name }, "everything that was committed is in the database: the gateway can be started again");
  }

  async function loss(): Promise<HostError | undefined> {
    for (const { name, path, number, hasContent } of opened) {
      const now = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => error);
      // Any other error while checking a file proves nothing.
      const same = now instanceof Error ? now.code !== "ENOENT" : now.ino === number;
      if (!same) return gone(name);
      // Its size alone: a process that opens and closes the file loses the locks of its connections.
      if (hasContent && !(now instanceof Error) && now.size === 0n) return gone(name, "emptied");
    }
    const lost = journal === undefined ? undefined : await lossOfLog(journal);
    if (lost !== undefined) return lost;
    try {
      return (await store.fence()) === fence ? undefined : new HostError("state_fenced");
    } catch (error) {
      if (error instanceof HostError && error.code === "database_version") return error;
      throw error;
    }
  }

  const check = (lost: HostError | undefined) => {
    if (lost === undefined || stop.signal.aborted) return;
    stop.abort();
    log.fatal({ code: lost.code }, lost.message);
    onLost(lost);
  };
  const stop = new AbortController();
  // The store is closing or does not respond; the next check will show which.
  let isChecking = false;
  const look = async () => {
    if (isChecking) return;
    isChecking = true;
    await loss()
      .then(check, () => {})
      .finally(() => {
        isChecking = false;
      });
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  stop.signal.addEventListener("abort", () => clearInterval(timer));
  cleanup.defer(() => stop.abort());
}

/** Logs the problem that a start with `--accept-new-state` ignored. */
export function acceptance(log: Pick<Log, "warn">): (accepted: HostError, aside: string | undefined) => void {
  return ({ code, message }, aside) => {
    log.warn({ code, renamed: aside }, `${message} It was accepted by --accept-new-state.`);
  };
}
