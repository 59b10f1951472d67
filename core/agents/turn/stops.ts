/** `/stop` ends the turns that reply to its chat and thread, and drops earlier messages that wait there. */

import type { Inbound, Route } from "../../contract/index.ts";
import { type Store, timeOfId } from "../../state/index.ts";

const namespace = "stops";
/** A `/stop` as an event. */
export interface Stop {
  readonly event: string;
  /** When it was run, epoch milliseconds. */
  readonly at: number;
}

/** The longest time that an event may wait. */
const keepMs = 7 * 24 * 60 * 60_000;

/** The chat and thread that a turn replies to; `undefined` if it replies nowhere. */
export function placeOf({ to }: Pick<Route, "to">): string | undefined {
  return to === null ? undefined : JSON.stringify([to.channel, to.account, to.chat, to.thread ?? null]);
}

/** Records a `/stop`, so that earlier messages which have not begun are dropped, even after a restart. */
export async function rememberStop(store: Pick<Store, "set">, { place, event, at }: Stop & { readonly place: string }) {
  await store.set(namespace, place, { event, at }, { expiresAt: at + keepMs });
}

/** Whether that event has already been run as a `/stop`, such as a spoken one while its lane still waited. */
export async function wasStopped(store: Pick<Store, "get">, { place, event }: Pick<Stop, "event"> & { place: string }) {
  return ((await store.get(namespace, place)) as Stop | null)?.event === event;
}

/**
 * Whether an event arrived after a `/stop`. Ids sort by time; one from the future, because the clock was set back,
 * proves nothing.
 */
export const isAfterStop = (event: string, stop: Stop): boolean => event > stop.event && timeOfId(event) <= stop.at;

/**
 * Whether the message arrived before a `/stop` in its place. Never true for heartbeats and hook runs, even if they
 * share the session or reply there.
 */
export async function cameBeforeStop(
  store: Pick<Store, "get">,
  { id, request }: Inbound,
  { route, now }: { route: Route; now: number },
) {
  const place = placeOf(route);
  if (place === undefined || request !== undefined) return false;
  const stop = (await store.get(namespace, place)) as Stop | null;
  // Ids sort by time. If the clock was set back since the `/stop`, the order is unknown.
  return stop !== null && stop.at <= now && id <= stop.event;
}
