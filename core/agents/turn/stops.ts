/** What `/stop` ends: the turns that speak in its own chat and thread, and messages there that came before it. */

import type { Inbound, Route } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

const namespace = "stops";
/** As long as an event may wait. */
const keepMs = 7 * 24 * 60 * 60_000;

/** Chat and thread in which a turn speaks; `undefined`: nowhere. */
export function placeOf({ to }: Pick<Route, "to">): string | undefined {
  return to === null ? undefined : JSON.stringify([to.channel, to.account, to.chat, to.thread ?? null]);
}

/** What came before the event and has not begun is not begun any more, also by a gateway that starts again in between. */
export async function rememberStop(
  store: Pick<Store, "set">,
  stop: { readonly place: string; readonly event: string; readonly at: number },
) {
  const { place, event, at } = stop;
  await store.set(namespace, place, { event, at }, { expiresAt: at + keepMs });
}

/** Only a person's message: a heartbeat and a hook run are not of that chat, whatever session they share and wherever they answer. */
export async function cameBeforeStop(store: Pick<Store, "get">, { id, request }: Inbound, { route, now }: { route: Route; now: number }) {
  const place = placeOf(route);
  if (place === undefined || request !== undefined) return false;
  const stop = (await store.get(namespace, place)) as { readonly event: string; readonly at: number } | null;
  // Ids sort by time; when the clock was set back since the `/stop`, nothing can be said of what came after it.
  return stop !== null && stop.at <= now && id <= stop.event;
}
