/** The ledger of model calls. */
import type {
  CallPurpose,
  ModelCall,
  SpendingLimit,
  SpendingScope,
  Spent,
  UsageGrouping,
  UsageReport,
} from "../../model-calls.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";

const columns = `id, at, agent_id, model, purpose, session_key, channel, account, sender, event_id, input_tokens,
  output_tokens, cache_read,
  cache_write, reasoning, usd, price_source, estimated`;

function put(context: WriteContext, call: ModelCall): void {
  context.run(
    `INSERT OR REPLACE INTO model_calls (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    call.id,
    call.at,
    call.agentId,
    call.model,
    call.purpose,
    call.sessionKey ?? null,
    call.channel ?? null,
    call.account ?? null,
    call.sender ?? null,
    call.eventId ?? null,
    call.inputTokens,
    call.outputTokens,
    call.cacheRead,
    call.cacheWrite,
    call.reasoning,
    call.usd,
    call.priceSource,
    call.estimated ? 1 : 0,
  );
}

/** The index `model_calls_at` contains every column that this reads. */
function sumOf(sql: Statements, { since, agentId, sender }: SpendingScope): Spent {
  const conditions = ["at >= ?"];
  if (agentId !== undefined) conditions.push("agent_id = ?");
  if (sender !== undefined) conditions.push("channel = ? AND sender = ?");
  const sum = sql.one<Spent>(
    `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens, coalesce(sum(usd), 0.0) AS usd FROM model_calls
     WHERE ${conditions.join(" AND ")}`,
    since,
    ...(agentId === undefined ? [] : [agentId]),
    ...(sender === undefined ? [] : [sender.channel, sender.id]),
  );
  return { tokens: sum?.tokens ?? 0, usd: sum?.usd ?? 0 };
}

function exceeds({ tokens, usd }: Spent, call: ModelCall, limit: SpendingLimit): boolean {
  if (limit.tokens !== undefined && tokens + call.inputTokens + call.outputTokens > limit.tokens) return true;
  return limit.usd !== undefined && usd + (call.usd ?? 0) > limit.usd;
}

export function modelCallWrites(context: WriteContext) {
  return {
    reserveCall({ call, limits }: { readonly call: ModelCall; readonly limits: readonly SpendingLimit[] }) {
      const spent = limits.map((limit) => sumOf(context, limit));
      const index = limits.findIndex((limit, place) => exceeds(spent[place] as Spent, call, limit));
      if (index === -1) put(context, call);
      return { refusedBy: index === -1 ? null : index, spent };
    },

    recordCall(call: ModelCall): void {
      put(context, call);
    },

    releaseCall(id: string): void {
      context.run("DELETE FROM model_calls WHERE id = ?", id);
    },
  };
}

interface UsageRow {
  readonly agent: string;
  readonly model: string;
  readonly sender: string;
  readonly purpose: string;
  readonly calls: number;
  readonly usd: number;
  readonly estimated: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly reasoning: number;
  readonly unpriced: number;
  readonly unpriced_input: number;
  readonly unpriced_output: number;
  readonly unpriced_read: number;
  readonly unpriced_write: number;
  readonly unpriced_reasoning: number;
}

const counted = {
  input: "input_tokens",
  output: "output_tokens",
  read: "cache_read",
  write: "cache_write",
  reasoning: "reasoning",
};
const unpriced = Object.entries(counted).map(
  ([name, column]) => `coalesce(sum(${column}) FILTER (WHERE usd IS NULL), 0) AS unpriced_${name}`,
);

const groups: Readonly<Record<UsageGrouping, string>> = {
  agent: "agent_id AS agent, '' AS sender, '' AS purpose",
  model: "'' AS agent, '' AS sender, '' AS purpose",
  sender: "'' AS agent, coalesce(channel || ':' || sender, '') AS sender, '' AS purpose",
  purpose: "'' AS agent, '' AS sender, purpose",
};

export function modelCallReads(sql: Statements) {
  return {
    spent: (scopes: readonly SpendingScope[]): readonly Spent[] => scopes.map((scope) => sumOf(sql, scope)),

    usage({ since, by = "agent" }: { readonly since: number; readonly by?: UsageGrouping }): readonly UsageReport[] {
      const rows = sql.all<UsageRow>(
        `SELECT ${groups[by]}, model, count(*) AS calls, coalesce(sum(usd), 0.0) AS usd, sum(estimated) AS estimated,
           sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cache_read) AS cache_read, sum(cache_write)
             AS cache_write,
           sum(reasoning) AS reasoning, count(*) FILTER (WHERE usd IS NULL) AS unpriced, ${unpriced.join(", ")}
         FROM model_calls WHERE at >= ? GROUP BY 1, 2, 3, 4 ORDER BY input + output DESC, 1, 2, 3, 4`,
        since,
      );
      return rows.map((row) => ({
        agentId: row.agent,
        model: row.model,
        ...(by === "sender" && { sender: row.sender }),
        ...(by === "purpose" && { purpose: row.purpose as CallPurpose }),
        calls: row.calls,
        inputTokens: row.input,
        outputTokens: row.output,
        cacheRead: row.cache_read,
        cacheWrite: row.cache_write,
        reasoning: row.reasoning,
        usd: row.usd,
        estimated: row.estimated,
        unpriced: {
          calls: row.unpriced,
          inputTokens: row.unpriced_input,
          outputTokens: row.unpriced_output,
          cacheRead: row.unpriced_read,
          cacheWrite: row.unpriced_write,
          reasoning: row.unpriced_reasoning,
        },
      }));
    },
  };
}
