/** Copies of the whole state: reads its rows, and writes those of another store. */
import {
  type Copying,
  type CopyKind,
  type CopyRecord,
  type CopyRow,
  copyKinds,
  copyNamespace,
  copyRecordKey,
  type Decision,
  type Json,
  storeError,
} from "service-gateway/sdk/store";
import { textLength } from "./acceptance.ts";
import { type CopiedTable, copiedTables } from "./copied-tables.ts";
import { packDecisions } from "./decisions.ts";
import type { Database, Values } from "./pool.ts";

type Query = (sql: string, values?: Values) => Promise<readonly unknown[]>;

const record = { namespace: copyNamespace, key: copyRecordKey };
const recordExists = "SELECT 1 FROM @kv WHERE namespace = $1 AND key = $2";

function pageQuery({ table, from, key, fields, size }: CopiedTable, after: Values | null): string {
  const values = key.map((_, index) => (after === null ? "0" : `$${index + 3}`));
  const source = from?.(values, "$1") ?? `@${table}`;
  const keys = key.join(", ");
  const where = after === null ? "" : `WHERE (${keys}) > (${values.join(", ")})`;
  const order = key.map((_, index) => `key_${index}`).join(", ");
  const columns = [
    ...key.map((column, index) => `${column} AS key_${index}`),
    ...fields.map(({ read }, index) => `${read} AS field_${index}`),
  ];
  return `SELECT * FROM (
    SELECT picked.*, sum(size) OVER (ORDER BY ${order}) AS total FROM (
      SELECT ${columns.join(", ")}, ${size} AS size FROM ${source} source ${where} ORDER BY ${keys} LIMIT $1
    ) picked
  ) sized WHERE total - size < $2 ORDER BY ${order}`;
}

/** JSON has no infinite numbers. */
const neutral = (value: unknown): Json => (value === Number.POSITIVE_INFINITY ? "Infinity" : ((value ?? null) as Json));

/** Columns that the table computes from the others. */
function withDerived(kind: CopyKind, row: CopyRow): CopyRow {
  if (kind === "event") return { ...row, characters: textLength(JSON.parse(String(row.body)) as Json) };
  if (kind !== "decision") return row;
  const [, senders] = packDecisions(row.entries as unknown as readonly Decision[]);
  return { ...row, senders };
}

async function insert(query: Query, kind: CopyKind, rows: readonly CopyRow[]): Promise<ReadonlySet<number>> {
  const { table, key, unique = key, fields } = copiedTables[kind];
  const types = fields.map(({ name, type }) => `"${name}" ${type}`).join(", ");
  const values = fields.map(({ name, write = `t."${name}"` }) => write).join(", ");
  const inserted = await query(
    `INSERT INTO @${table} (${fields.map(({ column }) => column).join(", ")}) SELECT ${values}
    FROM json_to_recordset($1::json) AS t (${types})
     ON CONFLICT (${unique.join(", ")}) DO NOTHING RETURNING ${unique[0]} AS id`,
    [JSON.stringify(rows.map((row) => withDerived(kind, row)))],
  );
  return new Set((inserted as readonly { readonly id: number }[]).map(({ id }) => id));
}

/** Tokens have a table of their own, without a key: those of decisions that were stored before are there already. */
async function insertUsage(query: Query, rows: readonly CopyRow[]): Promise<void> {
  const used = rows.flatMap(({ unit = null, entries = null }) => {
    const [, , usage] = packDecisions(entries as unknown as readonly Decision[]);
    return usage === null ? [] : (JSON.parse(usage) as readonly object[]).map((each) => ({ unit, ...each }));
  });
  if (used.length === 0) return;
  await query(
    `INSERT INTO @usage (unit, at, model, input_tokens, output_tokens) SELECT unit, at, model, "inputTokens",
    "outputTokens"
     FROM json_to_recordset($1::json) AS t (unit bigint, at double precision, model text, "inputTokens" bigint,
       "outputTokens" bigint)`,
    [JSON.stringify(used)],
  );
}

async function requireRecord(query: Query): Promise<void> {
  const found = await query(`${recordExists} FOR UPDATE`, [record.namespace, record.key]);
  if (found.length === 0) throw new Error("The state is not the target of a copy.");
}

const note = (query: Query, noted: CopyRecord) =>
  query(
    "INSERT INTO @kv (namespace, key, value) VALUES ($1, $2, $3) ON CONFLICT (namespace, key) DO UPDATE SET " +
      "value = excluded.value",
    [record.namespace, record.key, JSON.stringify(noted)],
  );

/** Rejects if the state is the target of a copy that has not ended. */
export async function requireWholeState(database: Database): Promise<void> {
  const found = await database.query(recordExists, [record.namespace, record.key]);
  if (found.length > 0) throw storeError("state_copy_unfinished");
}

function rowsOf({ table, from, key }: CopiedTable): string {
  const first = key.map(() => "0");
  return `${from?.(first, "ALL") ?? `@${table}`} source`;
}

/** Identity columns, and the highest number that each has to leave out. */
const identities = [
  ["inbox", "sequence", "max(sequence)"],
  ["units", "id", "max(id)"],
  ["decisions", "id", "max(id)"],
  ["outbox", "id", "max(id)"],
  ["transcripts", "id", "max(id)"],
  ["summaries", "id", "max(id)"],
  // The same numbers order the messages of a transcript.
  ["messages", "id", "greatest(max(id), max(position))"],
] as const;

export function copyMethods(database: Database): Copying {
  return {
    async read(kind, { after, rows, characters }) {
      const copied = copiedTables[kind];
      const found = await database.report<Record<string, unknown>>(pageQuery(copied, after), [
        rows,
        characters,
        ...(after ?? []),
      ]);
      const last = found.at(-1);
      return {
        rows: found.map((row) =>
          Object.fromEntries(
            copied.fields.flatMap(({ name, read }, index) =>
              read === "NULL" ? [] : [[name, neutral(row[`field_${index}`])]],
            ),
          ),
        ),
        next: last === undefined ? null : copied.key.map((_, index) => last[`key_${index}`] as string | number),
      };
    },
    async counts() {
      const columns = copyKinds.map((kind) => `(SELECT count(*) FROM ${rowsOf(copiedTables[kind])}) AS "${kind}"`);
      const [counts] = await database.report<Readonly<Record<CopyKind, number>>>(`SELECT ${columns.join(", ")}`);
      if (counts === undefined) throw new Error("The database returned no counts.");
      return counts;
    },
    async begin(noted) {
      let begun = false;
      await database.transaction(async (query) => {
        // A gateway that starts at this moment takes its lease before or after the record is stored, and looks for the
        // record then.
        await query("LOCK TABLE @nodes IN SHARE MODE");
        const used = [
          "EXISTS (SELECT FROM @nodes WHERE lease_until > clock_timestamp())",
          `EXISTS (${recordExists.replace("$1", `'${record.namespace}'`).replace("$2", `'${record.key}'`)})`,
          ...copyKinds.map((kind) => `EXISTS (SELECT FROM ${rowsOf(copiedTables[kind])})`),
        ];
        const [found] = (await query(`SELECT ${used.join(" OR ")} AS used`)) as readonly { readonly used: boolean }[];
        begun = found?.used === false;
        if (begun) await note(query, noted);
      });
      return begun;
    },
    async write(kind, rows, noted) {
      await database.transaction(async (query) => {
        await requireRecord(query);
        const inserted = rows.length === 0 ? new Set<number>() : await insert(query, kind, rows);
        if (kind === "decision")
          await insertUsage(
            query,
            rows.filter(({ id }) => inserted.has(Number(id))),
          );
        await note(query, noted);
      });
    },
    async finish() {
      await database.transaction(async (query) => {
        await requireRecord(query);
        for (const [table, column, highest] of identities)
          await query(
            `SELECT setval(pg_get_serial_sequence('@${table}', '${column}'), coalesce(highest, 1), highest IS NOT NULL)
             FROM (SELECT ${highest} AS highest FROM @${table}) ids`,
          );
        await query("DELETE FROM @kv WHERE namespace = $1 AND key = $2", [record.namespace, record.key]);
      });
    },
  };
}
