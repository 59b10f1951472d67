/** Removes data past its limits, in steps small enough for acceptances to run in between. */

import { eventState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { leaveOutOld, removeUnitWithoutEvents } from "../events/event-queue.ts";
import { pruneTranscripts } from "../records/transcripts.ts";

const stepRows = 250;

export interface PruneInput {
  readonly subject: "dedupe" | "kv" | "sent" | "events" | "queues" | "transcripts" | "calls";
  /** Rows that ended before this time are removed. */
  readonly before: number;
  /** Maximum number of settled events. */
  readonly keep: number;
  /** The sequence number to continue from. */
  readonly after: number;
}

/** The result of one step. `after` is where the next step continues; `null` when there is nothing more to do. */
export interface PruneResult {
  readonly removed: number;
  readonly after: number | null;
}

interface OldEvent {
  readonly sequence: number;
  readonly state: number;
  readonly accepted_at: number;
  readonly settled_at: number | null;
  readonly unit: number | null;
}

const expired = {
  dedupe: "DELETE FROM dedupe WHERE key IN (SELECT key FROM dedupe WHERE until <= ? LIMIT ?)",
  kv: `DELETE FROM kv WHERE (namespace, key) IN
    (SELECT namespace, key FROM kv WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?)`,
  calls: "DELETE FROM model_calls WHERE id IN (SELECT id FROM model_calls WHERE at < ? LIMIT ?)",
  sent: `DELETE FROM sent WHERE (channel, account, chat, message_id) IN
    (SELECT channel, account, chat, message_id FROM sent WHERE at < ? LIMIT ?)`,
} as const;

export function pruneWrites(context: WriteContext) {
  const removeEvents = (events: readonly OldEvent[]) => {
    for (const event of events) {
      context.run("DELETE FROM inbox WHERE sequence = ?", event.sequence);
      if (event.unit !== null) removeUnitWithoutEvents(context, event.unit);
    }
    context.count("kept", -events.length);
  };

  /** Starts at the oldest event. The newest row is kept, because the next sequence number is derived from it. */
  const pruneEvents = ({ before, keep, after }: PruneInput): PruneResult => {
    const rows = context.all<OldEvent>(
      `SELECT i.sequence, i.state, i.accepted_at, i.unit, u.settled_at FROM inbox i LEFT JOIN units u ON u.id = i.unit
       WHERE i.sequence > ? AND i.sequence < (SELECT max(sequence) FROM inbox) ORDER BY i.sequence LIMIT ?`,
      after,
      stepRows,
    );
    const retained = context.one<{ value: number }>("SELECT value FROM numbers WHERE name = 'kept'")?.value ?? 0;
    let excess = retained - keep;
    const old = rows.filter((row) => {
      if (row.state < eventState.answered) return false;
      if (excess <= 0 && (row.settled_at ?? row.accepted_at) >= before) return false;
      excess -= 1;
      return true;
    });
    removeEvents(old);
    const last = rows.at(-1);
    // Events are settled after they are accepted, so all later ones are too young.
    const done = last === undefined || rows.length < stepRows || (excess <= 0 && last.accepted_at >= before);
    return { removed: old.length, after: done ? null : last.sequence };
  };

  return {
    /**
     * The expiry time of the newest key beyond the first `keep` keys; 0 if there are fewer. Walks the index: 30 ms for
     * a million keys.
     */
    dedupeExcess(keep: number): number {
      return (
        context.one<{ until: number }>("SELECT until FROM dedupe ORDER BY until DESC LIMIT 1 OFFSET ?", keep)?.until ??
        0
      );
    },

    prune(input: PruneInput): PruneResult {
      if (input.subject === "events") return pruneEvents(input);
      if (input.subject === "transcripts") return pruneTranscripts(context, input);
      if (input.subject === "queues") {
        leaveOutOld(context, input.before);
        return { removed: 0, after: null };
      }
      const removed = context.run(expired[input.subject], input.before, stepRows);
      return { removed, after: removed < stepRows ? null : 0 };
    },
  };
}
