/** Writes the rows of a copy. */
import type { SQLInputValue } from "node:sqlite";
import { HostError, type Outcome } from "../../../contract/index.ts";
import { type CopyKind, type CopyRecord, type CopyRow, copyNamespace, copyRecordKey } from "../../copying.ts";
import { eventState } from "../database/schema.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { type CopiedTable, copiedTables } from "./columns.ts";
import { countRows } from "./reads.ts";

const hasRecord = (sql: Statements): boolean =>
  sql.one("SELECT 1 FROM kv WHERE namespace = ? AND key = ?", copyNamespace, copyRecordKey) !== undefined;

/** Throws `state_copy_unfinished` if the state is the target of a copy that has not ended. */
export function requireWholeState(sql: Statements): void {
  if (hasRecord(sql)) throw new HostError("state_copy_unfinished");
}

function insertRow(context: WriteContext, { table, key, fields, derived = {} }: CopiedTable, row: CopyRow): void {
  const written = fields.flatMap(({ name, column, form }): (readonly [string, SQLInputValue])[] =>
    column === undefined ? [] : [[column, form.write(row[name] ?? null)]],
  );
  const values = [...written, ...Object.entries(derived).map(([column, derive]) => [column, derive(row)] as const)];
  const columns = values.map(([column]) => column).join(", ");
  context.run(
    `INSERT INTO ${table} (${columns}) VALUES (${values.map(() => "?").join(", ")}) ON CONFLICT ` +
      `(${key.join(", ")}) DO NOTHING`,
    ...values.map(([, value]) => value),
  );
}

/** Appends a message to the chain of its transcript, unless it is there already. */
function insertMessage(context: WriteContext, { id, transcript, place, unitId, role, at, content }: CopyRow): void {
  const known = context.one<{ newest: number | null; messages: number }>(
    "SELECT newest, messages FROM transcripts WHERE id = ?",
    Number(transcript),
  );
  if (known === undefined || known.messages >= Number(place)) return;
  context.run(
    "INSERT INTO messages (id, previous, unit_id, role, at, content) VALUES (?, ?, ?, ?, ?, ?)",
    Number(id),
    known.newest,
    unitId === null ? null : String(unitId),
    String(role),
    Number(at),
    String(content),
  );
  context.run(
    "UPDATE transcripts SET newest = ?, messages = ? WHERE id = ?",
    Number(id),
    Number(place),
    Number(transcript),
  );
}

export function copyWrites(context: WriteContext) {
  const note = (record: CopyRecord) =>
    context.run(
      "INSERT OR REPLACE INTO kv (namespace, key, value) VALUES (?, ?, ?)",
      copyNamespace,
      copyRecordKey,
      JSON.stringify(record),
    );
  const numberOf = (from: string) =>
    context.one<{ count: number }>(`SELECT count(*) AS count FROM ${from}`)?.count ?? 0;

  return {
    beginCopy(record: CopyRecord): boolean {
      if (hasRecord(context) || Object.values(countRows(context)).some((count) => count > 0)) return false;
      note(record);
      return true;
    },

    writeCopy({
      kind,
      rows,
      record,
    }: {
      readonly kind: CopyKind;
      readonly rows: readonly CopyRow[];
      readonly record: CopyRecord;
    }): void {
      requireRecord(context);
      for (const row of rows) {
        if (kind === "message") insertMessage(context, row);
        else insertRow(context, copiedTables[kind], row);
      }
      note(record);
    },

    /** The totals include events that are no longer stored, whose numbers were copied as counters. */
    finishCopy(): void {
      requireRecord(context);
      for (const outcome of ["answered", "silent", "refused", "failed"] satisfies Outcome[]) {
        const gone =
          context.one<{ value: number }>("SELECT value FROM numbers WHERE name = ?", `removed:${outcome}`)?.value ?? 0;
        context.count(outcome, gone + numberOf(`inbox WHERE state = ${eventState[outcome]}`));
        context.run("DELETE FROM numbers WHERE name = ?", `removed:${outcome}`);
      }
      context.count("kept", numberOf(`inbox WHERE state >= ${eventState.answered}`));
      context.count("waiting", numberOf(`inbox WHERE state = ${eventState.waiting}`));
      context.count("outbox", numberOf("outbox WHERE state < 2"));
      context.run("DELETE FROM kv WHERE namespace = ? AND key = ?", copyNamespace, copyRecordKey);
    },
  };
}

function requireRecord(sql: Statements): void {
  if (!hasRecord(sql)) throw new Error("The state is not the target of a copy.");
}
