/** Checks the database of a store that a plugin provides, as the store itself examines it. */
import { HostError } from "../../contract/errors.ts";
import { isEmbedded } from "../../stores/place.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok, withoutStop } from "./finding.ts";

/** Each request waits for the database. A gateway waits this long for a connection before it asks again. */
const slowMs = 3_000;

function slowness(store: string, openedMs: number): readonly Finding[] {
  if (openedMs <= slowMs) return [];
  const reason = `the store ${store} is slow: it took ${(openedMs / 1_000).toFixed(1)} s to open it`;
  const fix = "Look at the load of the database and the way to it: the gateway waits 3 s for a connection.";
  return [{ check: "store", verdict: "warn", reason, path: "state.url", fix }];
}

export async function checkStore({ context, place, state }: CheckInput): Promise<readonly Finding[]> {
  if (isEmbedded(place)) return [];
  const check = "store";
  const path = "state.url";
  try {
    const found = (await context.checkStore()).map(
      ({ verdict, reason, fix }): Finding => ({ check, verdict, reason, path, fix }),
    );
    // The check of the state reports why it cannot be opened.
    if (state instanceof HostError) return found;
    const slow = slowness(place.store, state?.openedMs ?? 0);
    if (found.length > 0 || slow.length > 0) return [...slow, ...found];
    return [ok(check, `the store ${place.store} can be opened`)];
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Without its plugin or its address, the store was not opened for the same reason.
    if (state instanceof HostError && state.message === error.message) return [];
    return [{ check, verdict: "fail", reason: withoutStop(error.message), path, fix: error.hint }];
  }
}
