/** Reads the rows of a copy. */
import type { SQLInputValue } from "node:sqlite";
import type { Json } from "../../../contract/index.ts";
import { type Copying, type CopyKey, type CopyKind, type CopyRow, copyKinds } from "../../copying.ts";
import type { Statements } from "../database/statements.ts";
import { type CopiedTable, copiedTables } from "./columns.ts";

type Options = Parameters<Copying["read"]>[1];
type Page = Awaited<ReturnType<Copying["read"]>>;

function pageQuery({ table, from = table, key, fields, size }: CopiedTable, isFirst: boolean): string {
  const keys = key.join(", ");
  const where = isFirst ? "" : `WHERE (${keys}) > (${key.map(() => "?").join(", ")})`;
  const keysOfRow = key.map((column, index) => `${column} AS key_${index}`);
  const order = key.map((_, index) => `key_${index}`).join(", ");
  const columns = fields.map(({ expression }, index) => `${expression} AS field_${index}`);
  return `SELECT * FROM (
    SELECT *, sum(size) OVER (ORDER BY ${order}) AS total FROM (
      SELECT ${[...keysOfRow, ...columns].join(", ")}, ${size} AS size FROM ${from} ${where} ORDER BY ${keys} LIMIT ?
    )
  ) WHERE total - size < ? ORDER BY ${order}`;
}

function readTable(sql: Statements, copied: CopiedTable, { after, rows, characters }: Options): Page {
  const found = sql.all<Record<string, SQLInputValue>>(
    pageQuery(copied, after === null),
    ...(after ?? []),
    rows,
    characters,
  );
  const last = found.at(-1);
  return {
    rows: found.map((row) =>
      Object.fromEntries(
        copied.fields.map(({ name, form }, index) => [name, form.read(row[`field_${index}`] ?? null)]),
      ),
    ),
    next: last === undefined ? null : copied.key.map((_, index) => last[`key_${index}`] as string | number),
  };
}

interface MessageRow {
  readonly unit_id: string | null;
  readonly role: string;
  readonly at: number;
  readonly content: string;
}

/** Ids of a transcript's messages, oldest first. */
function chainOf(sql: Statements, newest: number | null): readonly number[] {
  const links = sql.all<{ readonly id: number }>(
    `WITH RECURSIVE chain (id, previous) AS (
       SELECT id, previous FROM messages WHERE id = ?
       UNION ALL SELECT m.id, m.previous FROM chain JOIN messages m ON m.id = chain.previous
     ) SELECT id FROM chain`,
    newest,
  );
  return links.map(({ id }) => id).toReversed();
}

function readMessage(sql: Statements, transcript: number, place: number, id: number): CopyRow {
  const row = sql.one<MessageRow>("SELECT unit_id, role, at, content FROM messages WHERE id = ?", id);
  const { unit_id = null, role = "", at = 0, content = "" } = row ?? {};
  return { id, transcript, place, unitId: unit_id, role, at, content } satisfies Record<string, Json>;
}

/**
 * The chain of the transcript that was read last: a long one takes many pages, and each would otherwise follow the
 * whole chain.
 */
interface LatestChain {
  transcript: number;
  newest: number | null;
  ids: readonly number[];
}

/** `place` counts the messages of a transcript from 1. */
function readMessages(sql: Statements, latest: LatestChain, { after, rows: limit, characters }: Options): Page {
  const [transcript = 0, place = 0] = (after ?? []) as readonly number[];
  if (after === null) latest.transcript = 0;
  const rows: CopyRow[] = [];
  let size = 0;
  let next: CopyKey | null = null;
  const transcripts = sql.all<{ readonly id: number; readonly newest: number | null }>(
    "SELECT id, newest FROM transcripts WHERE id > ? OR (id = ? AND messages > ?) ORDER BY id LIMIT ?",
    transcript,
    transcript,
    place,
    limit,
  );
  for (const { id, newest } of transcripts) {
    if (latest.transcript !== id || latest.newest !== newest)
      Object.assign(latest, { transcript: id, newest, ids: chainOf(sql, newest) });
    const { ids } = latest;
    for (let index = id === transcript ? place : 0; index < ids.length; index += 1) {
      const row = readMessage(sql, id, index + 1, ids[index] ?? 0);
      rows.push(row);
      size += String(row.content).length;
      if (rows.length >= limit || size >= characters) return { rows, next: [id, index + 1] };
    }
    next = [id, ids.length];
  }
  return { rows, next: rows.length === 0 && transcripts.length < limit ? null : next };
}

export function copyReads(sql: Statements) {
  const latest: LatestChain = { transcript: 0, newest: null, ids: [] };
  return {
    copyRows: (kind: CopyKind, options: Options): Page =>
      kind === "message" ? readMessages(sql, latest, options) : readTable(sql, copiedTables[kind], options),
    copyCounts: (): Readonly<Record<CopyKind, number>> => countRows(sql),
  };
}

export function countRows(sql: Statements): Readonly<Record<CopyKind, number>> {
  const count = (kind: CopyKind): number => {
    const { table, from = table } = kind === "message" ? { table: "messages" } : copiedTables[kind];
    return sql.one<{ count: number }>(`SELECT count(*) AS count FROM ${from}`)?.count ?? 0;
  };
  return Object.fromEntries(copyKinds.map((kind) => [kind, count(kind)])) as Record<CopyKind, number>;
}
