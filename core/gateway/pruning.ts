/** Removes what is stored for a limited time: events, ids of sent messages, files of messages. */
import { removeOldMedia } from "../channels/index.ts";
import { type GatewayConfig, parseDuration } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Duties, Store } from "../state/index.ts";

/** How often old events and expired keys are removed. */
const pruneEveryMs = 10 * 60_000;
/** Less often, because finding old turns means reading every conversation. */
const transcriptsEveryMs = 6 * 60 * 60_000;
const dayMs = 24 * 60 * 60_000;
const limits = {
  keepEventsMs: 7 * dayMs,
  keepEvents: 100_000,
  keepSentMs: 30 * dayMs,
  // Keys expire after seven days, so this allows for more than one a second all that time.
  keepDedupeKeys: 1_000_000,
  keepWaitingMs: 7 * dayMs,
  // A budget asks about the current month, and `usage` about the last ones.
  keepCallsMs: 100 * dayMs,
};

export function startPruning({
  store,
  duties,
  log,
  now,
  cleanup,
  stateDirectory,
  channels,
  config,
}: {
  readonly store: Store;
  readonly duties: Pick<Duties, "has">;
  readonly log: Log;
  readonly now: () => number;
  readonly cleanup: AsyncDisposableStack;
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
  const pruneStore = async () =>
    (await duties.has("pruning"))
      ? await store.prune({ now: now(), ...limits, ...ofTranscripts() })
      : { ended: undefined };
  let state: "idle" | "pruning" | "closed" = "idle";
  const timer = setInterval(() => {
    // A slow run is not joined by a second one.
    if (state !== "idle") return;
    state = "pruning";
    void removeOldMedia({ stateDirectory, channels: channels(), now: now() });
    pruneStore()
      .then(({ ended }) => {
        if (ended !== undefined)
          log.warn({ events: ended, reason: "waited_too_long" }, "events that had waited for seven days have failed");
      })
      .catch((error: unknown) => {
        // A close interrupts the removal; the next start continues it.
        if (state !== "closed") log.error({ error: reasonOf(error) }, "old events could not be removed");
      })
      .finally(() => {
        if (state === "pruning") state = "idle";
      });
  }, pruneEveryMs);
  timer.unref();
  cleanup.defer(() => {
    clearInterval(timer);
    state = "closed";
  });
}
