/** Ends events that have been due for too long, for example because their account never opens. */
import { programCommand } from "../../../contract/index.ts";
import { eventState, unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";

const stepRows = 250;
const reason = "waited_too_long";

export interface OverdueInput {
  readonly now: number;
  /** Events accepted before this time end. */
  readonly before: number;
  /** The sequence number to continue from. */
  readonly after: number;
}

/** The result of one step. `after` is where the next step continues; `null` when there is nothing more to do. */
export interface OverdueResult {
  readonly ended: number;
  readonly after: number | null;
}

interface OldEvent {
  readonly sequence: number;
  readonly id: string;
  readonly lane: string;
  readonly state: number;
  readonly due: number | null;
  readonly replays: number;
  readonly unit: number | null;
  readonly accepted_at: number;
}

export function overdueWrites(context: WriteContext) {
  /**
   * Ends an event with everything that belongs to it, in its own unit or in the one that was handed back. Returns the
   * number of ended events.
   */
  const end = ({ sequence, id, lane, unit }: OldEvent, now: number): number => {
    // It may have ended along with the unit of an earlier event.
    if (
      context.one<{ state: number }>("SELECT state FROM inbox WHERE sequence = ?", sequence)?.state !==
      eventState.waiting
    )
      return 0;
    const row =
      unit ?? context.insert("INSERT INTO units (event_id, lane, state) VALUES (?, ?, ?)", id, lane, unitState.waiting);
    if (unit === null) context.run("UPDATE inbox SET unit = ? WHERE sequence = ?", row, sequence);
    context.run(
      `UPDATE units SET state = ?, outcome = 'failed', reason = '${reason}', settled_at = ?, previews = ` +
        "NULL, ending = NULL WHERE id = ?",
      unitState.settled,
      now,
      row,
    );
    const events = context.run("UPDATE inbox SET state = ? WHERE unit = ? AND state = 2", eventState.failed, row);
    const unsent = context.run(
      "UPDATE outbox SET state = 3, ended_at = ?, reason = 'unit_ended' WHERE unit = ? AND state < 2",
      now,
      row,
    );
    const hint =
      `The entries before and the log show what it waited for; \`${programCommand} hooks ` +
      `replay\` runs a delivery again.`;
    const decision = { at: now, station: "settled", plugin: "core", verdict: "failed", code: reason, hint } as const;
    appendDecisions(context, row, packDecisions([decision]));
    context.count("waiting", -events);
    context.count("failed", events);
    context.count("kept", events);
    context.count("outbox", -unsent);
    return events;
  };

  return {
    /** Performs one step. Gathered events without a due time and replayed events are kept: a replay counts as new. */
    endOverdue({ now, before, after }: OverdueInput): OverdueResult {
      const rows = context.all<OldEvent>(
        "SELECT sequence, id, lane, state, due, replays, unit, accepted_at FROM inbox WHERE sequence > ? " +
          "ORDER BY sequence LIMIT ?",
        after,
        stepRows,
      );
      let ended = 0;
      for (const row of rows) {
        if (row.accepted_at >= before) return { ended, after: null };
        if (row.state === eventState.waiting && row.due !== null && row.due < before && row.replays === 0)
          ended += end(row, now);
      }
      return { ended, after: rows.length < stepRows ? null : (rows.at(-1)?.sequence ?? null) };
    },
  };
}
