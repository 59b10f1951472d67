/** What the writer of a message does to it afterwards. */
import type { Json } from "../../../contract/index.ts";
import type { StoredEvent } from "../../store.ts";
import { type WaitingEdit, withEdit } from "../../writer-changes.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { eventColumns, type PackedEventRow, unpackEventRow } from "./inbox.ts";

export function writerChangeWrites(context: WriteContext) {
  return {
    editWaiting({ keys, edit }: { readonly keys: readonly string[]; readonly edit: WaitingEdit }): boolean {
      for (const key of keys) {
        const waiting = context.one<{ sequence: number; body: string }>(
          `SELECT i.sequence, i.body FROM dedupe d JOIN inbox i ON i.id = d.event_id
           WHERE d.key = ? AND i.state = 2 AND i.attempts = 0 AND i.unit IS NULL`,
          key,
        );
        const edited = waiting && withEdit(JSON.parse(waiting.body) as Json, edit);
        if (waiting === undefined || edited === undefined) continue;
        context.run("UPDATE inbox SET body = ? WHERE sequence = ?", JSON.stringify(edited), waiting.sequence);
        return true;
      }
      return false;
    },

    redactEvents({ ids, body }: { readonly ids: readonly string[]; readonly body: string }): void {
      for (const id of ids) {
        context.run("UPDATE inbox SET body = ? WHERE id = ?", body, id);
        context.run("UPDATE dedupe SET fingerprint = NULL WHERE key = (SELECT dedupe_key FROM inbox WHERE id = ?)", id);
      }
    },
  };
}

export function writerChangeReads(sql: Statements) {
  return {
    unitOf(eventId: string): readonly StoredEvent[] {
      return sql
        .allLists<PackedEventRow>(
          `SELECT ${eventColumns} FROM inbox WHERE id = ?1 AND unit IS NULL
           UNION ALL SELECT * FROM (
             SELECT ${eventColumns} FROM inbox WHERE unit = (SELECT unit FROM inbox WHERE id = ?1) ORDER BY sequence)`,
          eventId,
        )
        .map(unpackEventRow);
    },
  };
}
