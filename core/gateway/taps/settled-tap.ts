/**
 * What follows the turn of an event: its questions to owners and the records of its calls of tools are closed, and its
 * conversation is summarized if it has become long.
 */
import { type Compactions, type OfferedTools, turnFill } from "../../agents/index.ts";
import { reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { Hooks } from "../../stations/index.ts";

/** A store that is away answers late, and the questions must be closed all the same. */
const deadlineMs = 120_000;

export function tapSettled(
  hooks: Hooks,
  {
    offered,
    compactions,
    log,
  }: {
    readonly offered: Pick<OfferedTools, "ended">;
    readonly compactions: Pick<Compactions, "after">;
    readonly log: Log;
  },
): void {
  hooks.tap(
    "core",
    "settled",
    (record, visit) => {
      const fill = visit.get(turnFill);
      if (fill?.first !== undefined)
        compactions.after({ ...fill, tokens: fill.first + (record.usage?.outputTokens ?? 0) });
      return offered
        .ended(record, visit)
        ?.catch((error: unknown) =>
          log.warn({ event: record.eventId, error: reasonOf(error) }, "the calls of an ended turn remain"),
        );
    },
    { deadlineMs },
  );
}
