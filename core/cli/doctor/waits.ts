/** Checks whether events wait for a channel that is missing, or for a model that does not answer. */
import { HostError } from "../../contract/errors.ts";
import { waitsLine } from "../../reports/waits.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";

export function checkWaits({ context, state }: CheckInput): readonly Finding[] {
  if (state === undefined || state instanceof HostError) return [];
  const found = state.waits.map(
    (waits): Finding => ({
      ...{ check: "waiting", verdict: "warn", reason: waitsLine(waits, context.now()) },
      ...(waits.path === undefined ? {} : { path: waits.path }),
      ...(waits.fix === "" ? {} : { fix: waits.fix }),
    }),
  );
  return orOk(found, "waiting", "no event waits for a channel or a model that is away");
}
