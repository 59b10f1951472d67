/** What is kept for a time only: events, ids of sent messages, files of messages. */
import { parseDuration } from "../agents/index.ts";
import { removeOldMedia } from "../channels/index.ts";
import type { GatewayConfig } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import type { Undo } from "./undo.ts";

/** Old events and expired keys are looked for so often. */
const pruneEveryMs = 10 * 60_000;
/** To look for old turns is to walk through every conversation. */
const transcriptsEveryMs = 6 * 60 * 60_000;
const dayMs = 24 * 60 * 60_000;
const limits = {
  keepEventsMs: 7 * dayMs,
  keepEvents: 100_000,
  keepSentMs: 30 * dayMs,
  // They expire after seven days: this is more than one a second for all of that time.
  keepDedupeKeys: 1_000_000,
  keepWaitingMs: 7 * dayMs,
};

export function startPruning({
  store,
  log,
  now,
  undo,
  stateDirectory,
  channels,
  config,
}: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly undo: Undo;
  readonly stateDirectory: string;
  readonly channels: () => readonly string[];
  readonly config: () => Pick<GatewayConfig, "state">;
}): void {
  let transcriptsAt = Number.NEGATIVE_INFINITY;
  const ofTranscripts = (): { readonly keepTranscriptsMs?: number } => {
    const keep = parseDuration(config().state.retention.transcripts ?? "");
    if (keep === undefined || now() - transcriptsAt < transcriptsEveryMs) return {};
    transcriptsAt = now();
    return { keepTranscriptsMs: keep };
  };
  let state: "idle" | "pruning" | "closed" = "idle";
  const timer = setInterval(() => {
    // A disk that is slow gets no second one beside the first.
    if (state !== "idle") return;
    state = "pruning";
    void removeOldMedia({ stateDirectory, channels: channels(), now: now() });
    store
      .prune({ now: now(), ...limits, ...ofTranscripts() })
      .then(({ ended }) => {
        if (ended !== undefined)
          log.warn({ events: ended, reason: "waited_too_long" }, "events that had waited for seven days have failed");
      })
      .catch((error: unknown) => {
        // A close ends it in the middle; the next start goes on.
        if (state !== "closed") log.error({ error: reasonOf(error) }, "old events could not be removed");
      })
      .finally(() => {
        if (state === "pruning") state = "idle";
      });
  }, pruneEveryMs);
  timer.unref();
  undo.add(() => {
    clearInterval(timer);
    state = "closed";
  });
}
