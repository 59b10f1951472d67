/** The store's removal methods: searches run in this thread, removals in the writer thread. */
import type { Json } from "../../../contract/index.ts";
import type { Person, Removals, StoredMessage, StoredRow } from "../../removals.ts";
import type { Statements } from "../database/statements.ts";
import { toPerson } from "../removal/removals.ts";
import type { WriteQueue } from "./queue.ts";

interface MessageRow {
  readonly id: number;
  readonly transcript: number;
  readonly session_key: string;
  readonly generation: number;
  readonly role: string;
  readonly at: number;
  readonly content: string;
  readonly unit_id: string | null;
}

const messageColumns =
  "m.id, chain.transcript, t.session_key, t.generation, m.role, m.at, m.content, m.unit_id FROM chain";
const isAbout = "instr(content, ?1) > 0 OR unit_id IN (SELECT value FROM json_each(?2))";

const aboutAll = `WITH RECURSIVE found AS (
    SELECT id FROM messages WHERE ${isAbout}
  ), chain (transcript, id, previous) AS (
    SELECT t.id, m.id, m.previous FROM transcripts t JOIN messages m ON m.id = t.newest
    UNION ALL SELECT c.transcript, m.id, m.previous FROM chain c JOIN messages m ON m.id = c.previous
  )
  SELECT ${messageColumns} JOIN found ON found.id = chain.id JOIN messages m ON m.id = chain.id
    JOIN transcripts t ON t.id = chain.transcript
  ORDER BY m.id`;

const aboutSession = `WITH RECURSIVE chain (transcript, id, previous) AS (
    SELECT t.id, m.id, m.previous FROM transcripts t JOIN messages m ON m.id = t.newest WHERE t.session_key = ?3
    UNION ALL SELECT c.transcript, m.id, m.previous FROM chain c JOIN messages m ON m.id = c.previous
  )
  SELECT ${messageColumns} JOIN messages m ON m.id = chain.id JOIN transcripts t ON t.id = chain.transcript
  WHERE ${isAbout} ORDER BY m.id`;

export function removalReads(sql: Statements) {
  return {
    messagesAbout({ text, unitIds, session }: Parameters<Removals["messagesAbout"]>[0]): readonly StoredMessage[] {
      const units = JSON.stringify(unitIds);
      const rows =
        session === undefined
          ? sql.all<MessageRow>(aboutAll, text, units)
          : sql.all<MessageRow>(aboutSession, text, units, session);
      return rows.map(({ session_key, unit_id, content, ...row }) => ({
        ...row,
        session: session_key,
        content: JSON.parse(content) as Json,
        ...(unit_id !== null && { unitId: unit_id }),
      }));
    },

    partsTo({
      channel,
      id,
    }: Person): readonly { readonly unitId: string; readonly part: Json; readonly at?: number }[] {
      const rows = sql.all<{ unit_id: string; part: string; ended_at: number | null }>(
        `SELECT unit_id, part, ended_at FROM outbox WHERE ${toPerson} ORDER BY id`,
        channel,
        id,
      );
      return rows.map(({ unit_id, part, ended_at }) => ({
        unitId: unit_id,
        part: JSON.parse(part) as Json,
        ...(ended_at !== null && { at: ended_at }),
      }));
    },

    rowsAbout(text: string): readonly StoredRow[] {
      const rows = sql.all<{ namespace: string; key: string; value: string }>(
        "SELECT namespace, key, value FROM kv WHERE instr(key, ?1) > 0 OR instr(value, ?1) > 0 ORDER BY namespace, key",
        text,
      );
      return rows.map((row) => ({ ...row, value: JSON.parse(row.value) as Json }));
    },
  };
}

type RemovalReads = ReturnType<typeof removalReads>;

export function removalMethods(
  queue: WriteQueue,
  read: <Result>(reading: (reads: RemovalReads) => Result) => Promise<Result>,
): Removals {
  const durable = { durable: true } as const;
  return {
    deleteSession: (key) => queue.write("deleteSession", key, durable),
    messagesAbout: (about) => read((reads) => reads.messagesAbout(about)),
    editTranscript: (edit) => queue.write("editTranscript", edit, durable),
    partsTo: (chat) => read((reads) => reads.partsTo(chat)),
    removeEvents: (ids) => queue.write("removeEvents", ids, durable),
    removeSentTo: (chat) => queue.write("removeSentTo", chat, durable),
    rowsAbout: (text) => read((reads) => reads.rowsAbout(text)),
  };
}
