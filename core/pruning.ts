/** What is kept for a time only: events, ids of sent messages, files of messages. */
import { removeOldMedia } from "./agents/inbound-media.ts";
import { reasonOf } from "./errors.ts";
import type { Log } from "./log.ts";
import type { Store } from "./state/store.ts";
import type { Undo } from "./undo.ts";

/** Old events and expired keys are looked for so often. */
const pruneEveryMs = 10 * 60_000;
const limits = { keepEventsMs: 7 * 24 * 60 * 60_000, keepEvents: 100_000, keepSentMs: 30 * 24 * 60 * 60_000 };

export function startPruning({
  store,
  log,
  now,
  undo,
  stateDirectory,
  channels,
}: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly undo: Undo;
  readonly stateDirectory: string;
  readonly channels: () => readonly string[];
}): void {
  const timer = setInterval(() => {
    void removeOldMedia({ stateDirectory, channels: channels(), now: now() });
    store
      .prune({ now: now(), ...limits })
      .catch((error: unknown) => log.error({ error: reasonOf(error) }, "old events could not be removed"));
  }, pruneEveryMs);
  timer.unref();
  undo.add(() => clearInterval(timer));
}
