/** Sessions: their settings, their generation and their last recipient. */
import type { Address, Json } from "../../../contract/index.ts";
import type { SessionRecord } from "../../session.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";

interface SessionRow {
  readonly key: string;
  readonly agent_id: string;
  readonly generation: number;
  readonly last_recipient: string | null;
  readonly settings: string;
  readonly updated_at: number;
}

export interface SessionChange {
  readonly key: string;
  readonly agentId: string;
  readonly at: number;
  readonly settings: { readonly [key: string]: Json } | null;
  readonly lastRecipient: string | null;
  readonly newGeneration: boolean;
}

function merged(before: string | undefined, change: SessionChange["settings"]): string {
  if (change === null) return before ?? "{}";
  const settings = { ...(JSON.parse(before ?? "{}") as Record<string, Json>), ...change };
  return JSON.stringify(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)));
}

export function sessionWrites(context: WriteContext) {
  return {
    updateSession(change: SessionChange): void {
      const before = context.one<SessionRow>(
        "SELECT generation, last_recipient, settings FROM sessions WHERE key = ?",
        change.key,
      );
      context.run(
        `INSERT OR REPLACE INTO sessions (key, agent_id, generation, last_recipient, settings, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        change.key,
        change.agentId,
        (before?.generation ?? 0) + (change.newGeneration ? 1 : 0),
        change.lastRecipient ?? before?.last_recipient ?? null,
        merged(before?.settings, change.settings),
        change.at,
      );
    },
  };
}

function recordOf(row: SessionRow): SessionRecord {
  return {
    key: row.key,
    agentId: row.agent_id,
    generation: row.generation,
    ...(row.last_recipient !== null && { lastRecipient: JSON.parse(row.last_recipient) as Address }),
    settings: JSON.parse(row.settings) as SessionRecord["settings"],
    updatedAt: row.updated_at,
  };
}

export function sessionReads(sql: Statements) {
  return {
    session(key: string): SessionRecord | null {
      const row = sql.one<SessionRow>("SELECT * FROM sessions WHERE key = ?", key);
      return row ? recordOf(row) : null;
    },

    sessions({ limit }: { limit: number }): readonly SessionRecord[] {
      return sql.all<SessionRow>("SELECT * FROM sessions ORDER BY updated_at DESC LIMIT ?", limit).map(recordOf);
    },
  };
}
