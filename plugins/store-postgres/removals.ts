/** Removal of stored data by an operator, and search for the data about one person. */
import type { Json, Removals } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";

interface MessageRow {
  readonly id: number;
  readonly transcript: number;
  readonly session: string;
  readonly generation: number;
  readonly role: string;
  readonly at: number;
  readonly content: string;
  readonly unit_id: string | null;
}

export function removalMethods(database: Database): Removals {
  return {
    async deleteSession(key) {
      // Also of calls that no person caused, such as those of a webhook with this session.
      await database.query("UPDATE @model_calls SET session_key = NULL WHERE session_key = $1", [key]);
      const [row] = await database.call<{ existed: boolean; messages: number }>("delete_session", [key]);
      return { found: row?.existed === true, messages: row?.messages ?? 0 };
    },
    async messagesAbout({ text, unitIds, session }) {
      const rows = await database.report<MessageRow>(
        `SELECT m.id, t.id AS transcript, t.session_key AS session, t.generation, m.role, m.at, m.content, m.unit_id
         FROM @messages m JOIN @transcripts t ON t.id = m.transcript
         WHERE (position($1 in m.content) > 0 OR m.unit_id = ANY ($2))
           ${session === undefined ? "" : "AND t.session_key = $3"} ORDER BY m.id`,
        session === undefined ? [text, unitIds] : [text, unitIds, session],
      );
      return rows.map(({ content, unit_id, ...row }) => ({
        ...row,
        content: JSON.parse(content) as Json,
        ...(unit_id !== null && { unitId: unit_id }),
      }));
    },
    async editTranscript({ transcript, remove, replace }) {
      const contents = replace.map(({ content }) => JSON.stringify(content));
      await database.call("edit_transcript", [transcript, remove, replace.map(({ id }) => id), contents]);
    },
    async partsTo({ channel, id }) {
      const rows = await database.report<{ unit_id: string; part: Json; ended_at: number | null }>(
        "SELECT unit_id, part, ended_at FROM @outbox WHERE channel = $1 AND chat = $2 ORDER BY id",
        [channel, id],
      );
      return rows.map(({ unit_id, part, ended_at }) => ({
        unitId: unit_id,
        part,
        ...(ended_at !== null && { at: ended_at }),
      }));
    },
    async removeEvents(ids) {
      const [row] = await database.call<{ remove_events: number }>("remove_events", [ids]);
      return row?.remove_events ?? 0;
    },
    async removeSentTo({ channel, id }) {
      const [row] = await database.call<{ parts: number; message_ids: number; recipients: number }>("remove_sent_to", [
        channel,
        id,
      ]);
      return { parts: row?.parts ?? 0, messageIds: row?.message_ids ?? 0, recipients: row?.recipients ?? 0 };
    },
    async rowsAbout(text) {
      const rows = await database.report<{ namespace: string; key: string; value: string }>(
        "SELECT namespace, key, value FROM @kv WHERE position($1 in key) > 0 OR position($1 in value) > 0 " +
          "ORDER BY namespace, key",
        [text],
      );
      return rows.map((row) => ({ ...row, value: JSON.parse(row.value) as Json }));
    },
  };
}
