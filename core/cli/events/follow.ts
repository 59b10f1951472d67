/** Prints events as they end, until the command is interrupted. */
import { setTimeout as wait } from "node:timers/promises";
import { cannotStore, reasonOf } from "../../contract/errors.ts";
import { withUnit } from "../../reports/find-event.ts";
import type { EventFilter, EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";

const lookEveryMs = 250;
/** How long it waits for a database that is away. */
const waitMs = 1_000;
const mostAtOnce = 1_000;

type Newest = Pick<EventReport, "id" | "acceptedAt">;

/**
 * Which events are followed: those that are newer than `newest` or accepted `since` a time, and those that were open.
 */
export interface FollowStart {
  /** In epoch milliseconds. */
  readonly since?: number;
  /** Absent with `since`, and in an empty state. */
  readonly newest: Newest | undefined;
  /** The events that have not ended. */
  readonly open: readonly string[];
}

// With the gateway's own: the newest row of all is rarely removed, so there is nearly always one to go on from.
const all = ({ since }: Pick<FollowStart, "since">) => ({
  limit: mostAtOnce,
  includeInternal: true,
  since,
});

/** Taken before a list is read, so that no event ends unseen between the list and what follows it. */
export async function startNow(store: Store, since?: number): Promise<FollowStart> {
  const from = since === undefined ? {} : { since };
  const newest = since !== undefined ? undefined : (await store.events({ ...all(from), limit: 1 }))[0];
  const open = (await store.events({ ...all(from), open: true })).map(({ id }) => id);
  return { ...from, newest, open };
}

/**
 * Polls, because another process writes the events. The sender of an event and the places of its reply are unknown
 * until it has ended, so the filter applies then. A database that is away is waited for: `onAway` is called once with
 * the reason.
 */
export async function followEvents(
  store: Store,
  {
    filter,
    shown,
    start,
    signal,
    onAway = () => {},
  }: {
    readonly filter: EventFilter;
    readonly shown: ReadonlySet<string>;
    readonly start: FollowStart;
    readonly signal?: AbortSignal;
    readonly onAway?: (reason: string) => void;
  },
  print: (report: EventReport) => void,
): Promise<never> {
  let { newest } = start;
  const pending = new Set(start.open);
  /** What was accepted last, so that it is not found again by its time. */
  let latest: readonly string[] = [];

  async function look(): Promise<void> {
    // Some stores remove the newest event too if the data of its sender is erased. Then its time has to do.
    const isGone = newest !== undefined && (await store.event(newest.id)) === null;
    const from = newest === undefined ? {} : isGone ? { since: newest.acceptedAt } : { newerThan: newest.id };
    const came = await store.events({ ...all(start), oldestFirst: true, ...from });
    const fresh = isGone ? came.filter(({ id }) => !latest.includes(id)) : came;
    newest = fresh.at(-1) ?? newest;
    latest = [...latest, ...fresh.map(({ id }) => id)].slice(-mostAtOnce);
    for (const { id } of fresh) pending.add(id);
    for (const id of pending) {
      const report = await store.event(id);
      if (report !== null && report.state !== "settled") continue;
      const [wanted] = shown.has(id) ? [] : await store.events({ ...filter, limit: 1, id });
      const whole = wanted && (await withUnit(store, wanted));
      pending.delete(id);
      if (whole !== undefined) print(whole);
    }
  }

  for (let isAway = false; ; ) {
    try {
      await look();
      isAway = false;
    } catch (error) {
      if (!cannotStore(error)) throw error;
      if (!isAway) onAway(reasonOf(error));
      isAway = true;
    }
    await wait(isAway ? waitMs : lookEveryMs, undefined, signal && { signal });
  }
}
