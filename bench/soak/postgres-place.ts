/** Reads the state from PostgreSQL, without the gateway's own code. */
import { join } from "node:path";
import pg from "pg";
import type { PreviewLeft } from "../../core/state/store.ts";
import type { StatePlace } from "./place.ts";
import { type EventRow, type OutboxRow, readable, reminderText, type State, type UnitRow } from "./state.ts";

/** Sequence numbers stay below 2^53. */
const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The schema of an address, on a server that may be stopped and started again. */
export function postgresPlace(directory: string, url: string): StatePlace {
  const schema = new URL(url).searchParams.get("schema") ?? "";
  const pool = new pg.Pool({ connectionString: url, types, max: 1, connectionTimeoutMillis: 3_000 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const all = async <Row>(sql: string): Promise<readonly Row[]> =>
    (await pool.query(sql.replaceAll(/@(\w+)/g, `${schema}.$1`))).rows as readonly Row[];
  const count = async (condition: string) =>
    Number((await all<{ count: number }>(`SELECT count(*) FROM @inbox WHERE ${condition}`))[0]?.count);

  return {
    config: { dir: join(directory, "state"), store: "postgres", url },
    unsettled: () => count("state < 4"),
    forHeartbeat: () => count("state = 2 AND due IS NULL"),
    async previews() {
      const units = await all<{ preview: PreviewLeft }>("SELECT preview FROM @units WHERE preview IS NOT NULL");
      return units.flatMap(({ preview: { address, messageIds } }) => messageIds.map((id) => `${address.chat}:${id}`));
    },
    async read() {
      const units = await all<UnitRow>("SELECT id, event_id, lane, state, outcome, reason, settled_at FROM @units");
      return {
        events: await all<EventRow>(
          "SELECT sequence, id, state, attempts, unit, source, kind, accepted_at, due, body::text AS body " +
            "FROM @inbox ORDER BY sequence",
        ),
        units: new Map(units.map((unit) => [unit.id, unit])),
        // Transactions run side by side, and each takes the numbers of its units first.
        unorderedMs: 1_000,
        outbox: (await all<StoredPart>("SELECT * FROM @outbox ORDER BY unit, position")).map(outboxRow),
        codes: codesOf(await all("SELECT unit, entries FROM @decisions ORDER BY id")),
      } satisfies State;
    },
    modelCalls: async () => Number((await all<{ count: number }>("SELECT count(*) FROM @model_calls"))[0]?.count),
    async reminders() {
      const rows = await all<{ value: string }>(
        "SELECT value FROM @kv WHERE namespace LIKE '%schedule%' AND key LIKE 'reminder:%'",
      );
      return rows.map(({ value }) => reminderText(value));
    },
    close: () => pool.end(),
  };
}

function codesOf(
  rows: readonly { readonly unit: number; readonly entries: readonly { readonly code?: string }[] }[],
): ReadonlyMap<number, readonly string[]> {
  const byUnit = Map.groupBy(rows, ({ unit }) => unit);
  return new Map(
    [...byUnit].map(([unit, chain]) => [unit, chain.flatMap(({ entries }) => entries.map(({ code = "" }) => code))]),
  );
}

interface StoredPart
  extends Pick<OutboxRow, "unit" | "position" | "chat" | "operation" | "state" | "doubts" | "reason"> {
  readonly part: { readonly body?: { readonly payload?: { readonly text?: string } } };
  readonly message_ids: readonly string[] | null;
}

function outboxRow({
  unit,
  position,
  chat,
  operation,
  state,
  doubts,
  reason,
  part,
  message_ids: ids,
}: StoredPart): OutboxRow {
  const text = readable(part.body?.payload?.text);
  return { unit, position, chat, operation, text, state, doubts, messageId: ids?.[0] ?? null, reason };
}
