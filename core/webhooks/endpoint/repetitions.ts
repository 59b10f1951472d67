/**
 * Repeated deliveries that got their first answer: counted with the event that ran, so that none of them goes
 * unnoticed.
 */

import type { Json } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

/** How often the delivery of an event was repeated, and when it was last. */
export interface Repeated {
  readonly count: number;
  readonly at: number;
}

/** The newest repetition of all, for `why last`. */
export interface LastRepetition {
  readonly eventId: string;
  readonly at: number;
}

/** As long as dedupe keys are kept. */
const retentionMs = 7 * 24 * 3_600_000;
const writeEveryMs = 1_000;
const namespace = "hook-repetitions";
const lastPlace = ["hooks", "repeated"] as const;

export interface Repetitions {
  /** `eventId`: the event of the first delivery. */
  add(eventId: string): void;
}

/** Written at most once a second, without a flush: a flood of repetitions costs next to nothing. */
export function createRepetitions({
  store,
  now,
  log,
}: {
  readonly store: Pick<Store, "set" | "update">;
  readonly now: () => number;
  readonly log: Pick<PluginLog, "debug" | "info">;
}): Repetitions {
  let unwritten = new Map<string, Repeated>();
  let timer: NodeJS.Timeout | undefined;

  async function count(eventId: string, { count, at }: Repeated): Promise<void> {
    const before = (value: Json | null) => (value as unknown as Repeated | null)?.count ?? 0;
    const change = (value: Json | null) => ({ count: before(value) + count, at });
    const after = await store.update(namespace, eventId, change, { expiresAt: at + retentionMs });
    // A sender that keeps repeating must not fill the log.
    const level = before(after) === count ? "info" : "debug";
    log[level](
      { event: eventId, repeated: before(after) },
      "a delivery was repeated; it got the first response and did not run again",
    );
  }

  function write(): void {
    const [counted, last] = [unwritten, [...unwritten].at(-1)];
    unwritten = new Map();
    if (last !== undefined) store.set(...lastPlace, { eventId: last[0], at: last[1].at }).catch(() => {});
    for (const [eventId, repeated] of counted) count(eventId, repeated).catch(() => {});
  }

  return {
    add(eventId) {
      const before = unwritten.get(eventId)?.count ?? 0;
      // Moves the newest entry to the end of the map.
      unwritten.delete(eventId);
      unwritten.set(eventId, { count: before + 1, at: now() });
      if (timer !== undefined) return;
      write();
      timer = setTimeout(() => {
        timer = undefined;
        if (unwritten.size > 0) write();
      }, writeEveryMs);
      timer.unref();
    },
  };
}

export async function readRepeated(store: Pick<Store, "get">, eventId: string): Promise<Repeated | undefined> {
  return ((await store.get(namespace, eventId)) ?? undefined) as unknown as Repeated | undefined;
}

export async function readLastRepetition(store: Pick<Store, "get">): Promise<LastRepetition | undefined> {
  return ((await store.get(...lastPlace)) ?? undefined) as unknown as LastRepetition | undefined;
}
