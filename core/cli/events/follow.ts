/** Prints events as they end, until the command is interrupted. */
import { setTimeout as wait } from "node:timers/promises";
import type { EventFilter, EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { withUnit } from "../events.ts";

const lookEveryMs = 250;
const mostAtOnce = 1_000;

/** Which events are followed: those that are newer than `newest` or accepted `since` a time, and those that were open. */
export interface FollowStart {
  /** In epoch milliseconds. */
  readonly since?: number;
  /** Absent with `since`, and in an empty state. */
  readonly newest: string | undefined;
  /** The events that have not ended. */
  readonly open: readonly string[];
}

// With the gateway's own: the newest row of all is never removed, so there is always one to go on from.
const all = ({ since }: Pick<FollowStart, "since">) => ({
  limit: mostAtOnce,
  includeInternal: true,
  ...(since !== undefined && { since }),
});

/** Taken before a list is read, so that no event ends unseen between the list and what follows it. */
export async function startNow(store: Store, since?: number): Promise<FollowStart> {
  const from = since === undefined ? {} : { since };
  const newest = since !== undefined ? undefined : (await store.events({ ...all(from), limit: 1 }))[0]?.id;
  const open = (await store.events({ ...all(from), open: true })).map(({ id }) => id);
  return { ...from, newest, open };
}

/**
 * Polls, because another process writes the events. The sender of an event and the places of its reply are unknown until it has ended, so
 * the filter applies then.
 */
export async function followEvents(
  store: Store,
  {
    filter,
    shown,
    start,
    signal,
  }: {
    readonly filter: EventFilter;
    readonly shown: ReadonlySet<string>;
    readonly start: FollowStart;
    readonly signal?: AbortSignal;
  },
  print: (report: EventReport) => void,
): Promise<never> {
  let { newest } = start;
  const pending = new Set(start.open);
  for (;;) {
    const came = await store.events({ ...all(start), oldestFirst: true, ...(newest === undefined ? {} : { newerThan: newest }) });
    newest = came.at(-1)?.id ?? newest;
    for (const { id } of came) pending.add(id);
    for (const id of pending) {
      const report = await store.event(id);
      if (report !== null && report.state !== "settled") continue;
      pending.delete(id);
      const [wanted] = shown.has(id) ? [] : await store.events({ ...filter, limit: 1, id });
      if (wanted !== undefined) print(await withUnit(store, wanted));
    }
    await wait(lookEveryMs, undefined, signal && { signal });
  }
}
