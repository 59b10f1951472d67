/** Whether a gateway still has its state: nobody took it over, and its files are those that it opened. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "./errors.ts";
import type { Log } from "./log.ts";
import type { Store } from "./state/store.ts";
import type { Undo } from "./undo.ts";

const everyMs = 2_000;
const files = ["lock.db", "state.db"];

/** Calls back once, with what was lost. A send or a commit under way is stopped by the fence of the store; this ends the process around it. */
export function watchOwnership({
  store,
  fence,
  stateDirectory,
  log,
  undo,
  onLost,
}: {
  readonly store: Pick<Store, "fence">;
  /** What `begin` resolved with. */
  readonly fence: number;
  readonly stateDirectory: string;
  readonly log: Pick<Log, "fatal">;
  readonly undo: Undo;
  readonly onLost: (error: HostError) => void;
}): void {
  const stop = new AbortController();
  // The same file has the same number, whatever is written to it; one that was put in its place has another.
  const numbers = () => Promise.all(files.map(async (name) => (await stat(join(stateDirectory, name), { bigint: true })).ino));

  async function loss(first: readonly bigint[]): Promise<HostError | undefined> {
    const changed = await numbers().then(
      (now) => files.find((_, index) => now[index] !== first[index]),
      () => "one of its files",
    );
    if (changed !== undefined) {
      return new HostError("state_gone", { directory: stateDirectory, reason: `${changed} was removed or replaced` });
    }
    return (await store.fence()) === fence ? undefined : new HostError("state_fenced");
  }

  async function watch(): Promise<void> {
    const first = await numbers();
    const timer = setInterval(() => {
      loss(first).then(
        (lost) => {
          if (lost === undefined || stop.signal.aborted) return;
          end(lost);
        },
        // The store closes, or does not answer: the next look tells.
        () => {},
      );
    }, everyMs);
    timer.unref();
    stop.signal.addEventListener("abort", () => clearInterval(timer));
    if (stop.signal.aborted) clearInterval(timer);
  }

  function end(lost: HostError): void {
    stop.abort();
    log.fatal({ code: lost.code }, lost.message);
    onLost(lost);
  }

  undo.add(() => stop.abort());
  watch().catch(() => {
    if (!stop.signal.aborted)
      end(new HostError("state_gone", { directory: stateDirectory, reason: "one of its files was removed or replaced" }));
  });
}

/** Logs what a start with `--accept-new-state` went past. */
export function acceptance(log: Pick<Log, "warn">): (accepted: HostError, aside: string | undefined) => void {
  return ({ code, message }, aside) => {
    log.warn({ code, ...(aside === undefined ? {} : { renamed: aside }) }, `${message} It was accepted by --accept-new-state.`);
  };
}
