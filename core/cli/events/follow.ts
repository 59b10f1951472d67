/** Prints events as they end, until the command is interrupted. */
import { setTimeout as wait } from "node:timers/promises";
import type { EventFilter, EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { withUnit } from "../events.ts";

const lookEveryMs = 250;
const mostAtOnce = 1_000;

/**
 * Polls, because another process writes the events. The sender of an event and the places of its reply are unknown until it has ended, so
 * the filter applies then.
 */
export async function followEvents(
  store: Store,
  { filter, shown }: { readonly filter: EventFilter; readonly shown: ReadonlySet<string> },
  print: (report: EventReport) => void,
): Promise<never> {
  // Includes the gateway's own events: the newest row is never removed, so there is always one to continue from.
  const all = { limit: mostAtOnce, includeInternal: true };
  let newest = (await store.events({ ...all, limit: 1 }))[0]?.id;
  const pending = new Set((await store.events({ ...all, open: true })).map(({ id }) => id));
  for (const id of shown) pending.delete(id);
  for (;;) {
    await wait(lookEveryMs);
    const came = await store.events({ ...all, oldestFirst: true, ...(newest === undefined ? {} : { newerThan: newest }) });
    newest = came.at(-1)?.id ?? newest;
    for (const { id } of came) pending.add(id);
    for (const id of pending) {
      const report = await store.event(id);
      if (report !== null && report.state !== "settled") continue;
      pending.delete(id);
      const [wanted] = await store.events({ ...filter, limit: 1, id });
      if (wanted !== undefined) print(await withUnit(store, wanted));
    }
  }
}
