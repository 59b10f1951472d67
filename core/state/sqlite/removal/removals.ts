/** Removes a session, or the data about a person, for an operator. */
import type { Person, Removals } from "../../removals.ts";
import { eventState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { removeUnitWithoutEvents } from "../events/event-queue.ts";
import { forgetSummaries } from "../records/summaries.ts";
import { removeMessages, removeTranscripts } from "../records/transcripts.ts";

interface EventRow {
  readonly sequence: number;
  readonly unit: number | null;
  readonly dedupe_key: string | null;
  readonly newest: number;
}

/** Matches addresses in this chat. */
export const toPerson = "json_extract(address, '$.channel') = ? AND json_extract(address, '$.chat') = ?";

export function removalWrites(context: WriteContext) {
  return {
    deleteSession(key: string): { readonly found: boolean; readonly messages: number } {
      const messages = removeTranscripts(context, key);
      const record = context.run("DELETE FROM sessions WHERE key = ?", key);
      // Also of calls that no person caused, such as those of a webhook with this session.
      context.run("UPDATE model_calls SET session_key = NULL WHERE session_key = ?", key);
      return { found: record > 0 || messages > 0, messages };
    },

    editTranscript({ transcript, remove, replace }: Parameters<Removals["editTranscript"]>[0]): void {
      for (const { id, content } of replace)
        context.run("UPDATE messages SET content = ? WHERE id = ?", JSON.stringify(content), id);
      const removed = new Set(remove);
      forgetSummaries(context, transcript);
      removeMessages(context, transcript, ({ id }) => removed.has(id));
    },

    removeEvents(ids: readonly string[]): number {
      let count = 0;
      for (const id of ids) {
        const event = context.one<EventRow>(
          `SELECT sequence, unit, dedupe_key, (SELECT max(sequence) FROM inbox) AS newest FROM inbox
           WHERE id = ? AND state >= ${eventState.answered}`,
          id,
        );
        if (event === undefined) continue;
        const { sequence, unit, dedupe_key, newest } = event;
        // The newest row is kept, because the next sequence number is derived from it, but its personal data is
        // removed.
        if (sequence === newest) {
          context.run(
            "UPDATE inbox SET lane = 'erased', body = 'null', dedupe_key = NULL, gather_key = NULL, unit = " +
              "NULL WHERE sequence = ?",
            sequence,
          );
        } else {
          context.run("DELETE FROM inbox WHERE sequence = ?", sequence);
          context.count("kept", -1);
        }
        if (unit !== null) {
          // The decisions and the reply of a unit concern the event that led it, even if the unit contained others.
          if (context.run("UPDATE units SET reply = NULL WHERE id = ? AND event_id = ?", unit, id) > 0)
            context.run("DELETE FROM decisions WHERE unit = ?", unit);
          removeUnitWithoutEvents(context, unit);
        }
        if (dedupe_key !== null) context.run("UPDATE dedupe SET fingerprint = NULL WHERE key = ?", dedupe_key);
        count += 1;
      }
      return count;
    },

    removeSentTo({ channel, id }: Person): {
      readonly parts: number;
      readonly messageIds: number;
      readonly recipients: number;
    } {
      // The tokens still count, but no longer for this person. The key of a direct chat's session contains the id.
      context.run(
        "UPDATE model_calls SET sender = NULL, session_key = NULL WHERE channel = ? AND sender = ?",
        channel,
        id,
      );
      return {
        parts: context.run(`DELETE FROM outbox WHERE state >= 2 AND ${toPerson}`, channel, id),
        messageIds: context.run("DELETE FROM sent WHERE channel = ? AND chat = ?", channel, id),
        recipients: context.run(
          "UPDATE sessions SET last_recipient = NULL WHERE last_recipient IS NOT NULL AND " +
            `${toPerson.replaceAll("address", "last_recipient")}`,
          channel,
          id,
        ),
      };
    },
  };
}
