/** Checks the database of a store that a plugin provides, as the store itself examines it. */
import { HostError } from "../../contract/errors.ts";
import { isEmbedded } from "../../stores/place.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok, withoutStop } from "./finding.ts";

export async function checkStore({ context, place, state }: CheckInput): Promise<readonly Finding[]> {
  if (isEmbedded(place)) return [];
  const check = "store";
  const path = "state.url";
  try {
    const found = (await context.checkStore()).map(
      ({ verdict, reason, fix }): Finding => ({ check, verdict, reason, path, fix }),
    );
    // The check of the state reports why it cannot be opened.
    if (state instanceof HostError || found.length > 0) return found;
    return [ok(check, `the store ${place.store} can be opened`)];
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Without its plugin or its address, the store was not opened for the same reason.
    if (state instanceof HostError && state.message === error.message) return [];
    return [{ check, verdict: "fail", reason: withoutStop(error.message), path, fix: error.hint }];
  }
}
