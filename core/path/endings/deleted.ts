/** The end of a unit whose message its writer deleted while it was on its way. */
import { type Deletions, deletedSilent } from "../../channels/index.ts";
import { readDeleted, type Unit } from "../../state/index.ts";
import type { Stop, Trace } from "./ending.ts";

/**
 * How much of a unit was deleted since it was claimed; `undefined`: nothing. A unit of which only a part is left runs
 * again with that part. Whose reply waits to be sent loses it only if nothing is left.
 */
export function deletedOf(
  { events, stage }: Pick<Unit, "events" | "stage">,
  deletions: Pick<Deletions, "has">,
): "all" | "some" | undefined {
  const isNew = events.some(({ id, body }) => deletions.has(id) && readDeleted(body) === undefined);
  if (!isNew && stage === "turn") return undefined;
  if (events.every(({ id, body }) => deletions.has(id) || readDeleted(body) !== undefined)) return "all";
  return isNew && stage === "turn" ? "some" : undefined;
}

export function deletedStop(trace: Trace): Stop {
  trace.add("turn", { plugin: "core", verdict: "silent", code: deletedSilent.silent, detail: deletedSilent.detail });
  return { stop: { outcome: "silent", reason: deletedSilent.silent } };
}
