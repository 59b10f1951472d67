/** The ledger of model calls. */
import type { CallPurpose, Spent, Store, UsageGrouping } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";

interface UsageRow {
  readonly agent: string;
  readonly model: string;
  readonly sender: string;
  readonly purpose: string;
  readonly calls: number;
  readonly usd: number;
  readonly estimated: number;
  /** Input, output, cache read, cache write, reasoning. */
  readonly tokens: readonly [number, number, number, number, number];
  /** The calls without a price, and their tokens in the same order. */
  readonly unpriced: readonly [number, number, number, number, number, number];
}

const counted = ["input_tokens", "output_tokens", "cache_read", "cache_write", "reasoning"];
const tokens = counted.map((column) => `sum(${column})`).join(", ");
const unpriced = counted.map((column) => `coalesce(sum(${column}) FILTER (WHERE usd IS NULL), 0)`).join(", ");

const groups: Readonly<Record<UsageGrouping, string>> = {
  agent: "agent_id AS agent, '' AS sender, '' AS purpose",
  model: "'' AS agent, '' AS sender, '' AS purpose",
  sender: "'' AS agent, coalesce(channel || ':' || sender, '') AS sender, '' AS purpose",
  purpose: "'' AS agent, '' AS sender, purpose",
};

const countsOf = ([inputTokens, outputTokens, cacheRead, cacheWrite, reasoning]: UsageRow["tokens"]) => ({
  inputTokens,
  outputTokens,
  cacheRead,
  cacheWrite,
  reasoning,
});

export function modelCallMethods(database: Database) {
  return {
    async reserveCall(call, limits) {
      const values = [JSON.stringify(call), JSON.stringify(limits)];
      const [row] = await database.call<{ refused_by: number | null; spent: readonly Spent[] | null }>(
        "reserve_call",
        values,
      );
      return { refusedBy: row?.refused_by ?? null, spent: row?.spent ?? [] };
    },
    async recordCall(call) {
      await database.call("record_call", [JSON.stringify(call)]);
    },
    async releaseCall(id) {
      await database.query("DELETE FROM @model_calls WHERE id = $1", [id]);
    },
    spent: (scopes) => database.call<Spent>("spent", [JSON.stringify(scopes)]),
    async usage({ since, by = "agent" }) {
      const rows = await database.report<UsageRow>(
        `SELECT ${groups[by]}, model, count(*) AS calls, coalesce(sum(usd), 0) AS usd,
        count(*) FILTER (WHERE estimated) AS estimated,
           json_build_array(${tokens}) AS tokens, json_build_array(count(*) FILTER (WHERE usd IS NULL), ${unpriced})
             AS unpriced
         FROM @model_calls WHERE at >= $1 GROUP BY 1, 2, 3, 4 ORDER BY sum(input_tokens + output_tokens) DESC, 1, 2,
           3, 4`,
        [since],
      );
      return rows.map(
        ({ agent, model, sender, purpose, calls, usd, estimated, tokens, unpriced: [unpricedCalls, ...rest] }) => ({
          agentId: agent,
          model,
          ...(by === "sender" && { sender }),
          ...(by === "purpose" && { purpose: purpose as CallPurpose }),
          calls,
          ...countsOf(tokens),
          usd,
          estimated,
          unpriced: { calls: unpricedCalls, ...countsOf(rest) },
        }),
      );
    },
  } satisfies Partial<Store>;
}
