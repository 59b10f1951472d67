/** Closes what the turn of an event leaves open: questions to owners, and what is recorded of its calls of tools. */
import type { OfferedTools } from "../../agents/index.ts";
import { reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { Hooks } from "../../stations/index.ts";

/** A store that is away answers late, and the questions must be closed all the same. */
const deadlineMs = 120_000;

export function tapSettled(
  hooks: Hooks,
  { offered, log }: { readonly offered: Pick<OfferedTools, "ended">; readonly log: Log },
): void {
  hooks.tap(
    "core",
    "settled",
    (record, visit) =>
      offered
        .ended(record, visit)
        ?.catch((error: unknown) =>
          log.warn({ event: record.eventId, error: reasonOf(error) }, "the calls of an ended turn remain"),
        ),
    { deadlineMs },
  );
}
