/** What the writer of a message does to it afterwards. */
import {
  type Json,
  type Store,
  type StoredEventRow,
  storedEventOf,
  type WaitingEdit,
  type WriterChanges,
  withEdit,
} from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";
import { unpackedEvent } from "./schema/fragments.ts";

/** Edits of one message that arrive at the same moment on several nodes. */
const mostTries = 5;

export function writerChangeMethods(database: Database): WriterChanges & Pick<Store, "unitOf"> {
  /** `undefined`: another edit was faster. */
  async function tryEdit(keys: readonly string[], edit: WaitingEdit): Promise<boolean | undefined> {
    const [waiting] = await database.query<{ sequence: number; body: Json; text: string }>(
      `SELECT i.sequence, i.body, i.body::text AS text FROM @dedupe d JOIN @inbox i ON i.id = d.event_id
       WHERE d.key = ANY ($1) AND i.state = 2 AND i.attempts = 0 AND i.unit IS NULL
       ORDER BY array_position($1, d.key) LIMIT 1`,
      [keys],
    );
    const edited = waiting && withEdit(waiting.body, edit);
    if (waiting === undefined || edited === undefined) return false;
    const changed = await database.query(
      `UPDATE @inbox SET body = $2 WHERE sequence = $1 AND state = 2 AND attempts = 0 AND unit IS NULL
         AND body::text = $3 RETURNING sequence`,
      [waiting.sequence, JSON.stringify(edited), waiting.text],
    );
    return changed.length > 0 ? true : undefined;
  }

  return {
    async editWaiting(keys, edit) {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const done = await tryEdit(keys, edit);
        if (done !== undefined) return done;
      }
      return false;
    },
    async redactEvents(ids, body) {
      await database.query(
        `WITH redacted AS (UPDATE @inbox SET body = $2, characters = 0 WHERE id = ANY ($1) RETURNING dedupe_key)
         UPDATE @dedupe SET fingerprint = NULL WHERE key IN (SELECT dedupe_key FROM redacted)`,
        [ids, JSON.stringify(body)],
      );
    },
    async unitOf(eventId) {
      const rows = await database.query<{ event: StoredEventRow }>(
        `SELECT ${unpackedEvent("i")} AS event FROM @inbox i
         WHERE i.id = $1 OR i.unit = (SELECT unit FROM @inbox WHERE id = $1) ORDER BY i.sequence`,
        [eventId],
      );
      return rows.map(({ event }) => storedEventOf(event));
    },
  };
}
