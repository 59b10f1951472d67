/** Checks whether a gateway still owns its state: no other gateway has taken it over, and its files are the ones it opened. */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import { filesOf, type StatePlace } from "../stores/index.ts";
import type { Undo } from "./undo.ts";

const everyMs = 2_000;

/** Calls back once, with what was lost. The store's fence already rejects commits of the old owner; this ends the process. */
export function watchOwnership({
  store,
  fence,
  place,
  log,
  undo,
  onLost,
}: {
  readonly store: Pick<Store, "fence">;
  /** The value that `begin` resolved with. */
  readonly fence: number;
  readonly place: StatePlace;
  readonly log: Pick<Log, "fatal">;
  readonly undo: Undo;
  readonly onLost: (error: HostError) => void;
}): void {
  // A file keeps its inode number when it is written to; a replacement has another one.
  const { directory } = place;
  const opened = ["lock.db", ...filesOf(place)].map((name) => {
    const path = join(directory, name);
    return { name, path, number: statSync(path, { bigint: true, throwIfNoEntry: false })?.ino };
  });

  async function loss(): Promise<HostError | undefined> {
    for (const { name, path, number } of opened) {
      const now = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => error);
      // Any other error while checking a file proves nothing.
      const same = now instanceof Error ? now.code !== "ENOENT" : now.ino === number;
      if (!same) return new HostError("state_gone", { directory, reason: `${name} was removed or replaced` });
    }
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
  const timer = setInterval(() => void loss().then(check, () => {}), everyMs);
  timer.unref();
  stop.signal.addEventListener("abort", () => clearInterval(timer));
  undo.add(() => stop.abort());
}

/** Logs the problem that a start with `--accept-new-state` ignored. */
export function acceptance(log: Pick<Log, "warn">): (accepted: HostError, aside: string | undefined) => void {
  return ({ code, message }, aside) => {
    log.warn({ code, ...(aside === undefined ? {} : { renamed: aside }) }, `${message} It was accepted by --accept-new-state.`);
  };
}
