/** Sessions and their transcripts. */
import type { Address, Json } from "../../types.ts";
import type { SessionMessage, SessionRecord } from "../store.ts";
import type { Desk } from "./desk.ts";
import type { Statements } from "./statements.ts";

export type PackedMessage = readonly [role: string, content: string, at: number, unitId: string | null];

export function packMessage({ role, content, at, unitId }: SessionMessage): PackedMessage {
  return [role, JSON.stringify(content), at, unitId ?? null];
}

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

function generationOf(sql: Statements, key: string): number {
  return sql.one<{ generation: number }>("SELECT generation FROM sessions WHERE key = ?", key)?.generation ?? 0;
}

/** Appends to the current generation; a unit that is run again replaces what it wrote before. */
export function writeTranscript(desk: Desk, unitId: string, sessionKey: string, messages: readonly PackedMessage[]): void {
  desk.run("DELETE FROM messages WHERE unit_id = ? AND session_key = ?", unitId, sessionKey);
  const generation = generationOf(desk, sessionKey);
  for (const [role, content, at, writer] of messages) {
    desk.run(
      "INSERT INTO messages (session_key, generation, unit_id, role, at, content) VALUES (?, ?, ?, ?, ?, ?)",
      sessionKey,
      generation,
      writer ?? unitId,
      role,
      at,
      content,
    );
  }
}

function merged(before: string | undefined, change: SessionChange["settings"]): string {
  if (change === null) return before ?? "{}";
  const settings = { ...(JSON.parse(before ?? "{}") as Record<string, Json>), ...change };
  return JSON.stringify(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)));
}

export function sessionWrites(desk: Desk) {
  return {
    updateSession(change: SessionChange): void {
      const before = desk.one<SessionRow>("SELECT generation, last_recipient, settings FROM sessions WHERE key = ?", change.key);
      desk.run(
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

interface MessageRow {
  readonly role: SessionMessage["role"];
  readonly content: string;
  readonly at: number;
  readonly unit_id: string | null;
}

export function sessionReads(sql: Statements) {
  /** Id of the message with which the last `turns` user turns begin; 0 when there are fewer. */
  const startOf = (key: string, generation: number, turns: number): number =>
    sql.one<{ id: number }>(
      "SELECT id FROM messages WHERE session_key = ? AND generation = ? AND role = 'user' ORDER BY id DESC LIMIT 1 OFFSET ?",
      key,
      generation,
      turns - 1,
    )?.id ?? 0;

  return {
    session(key: string): SessionRecord | null {
      const row = sql.one<SessionRow>("SELECT * FROM sessions WHERE key = ?", key);
      return row ? recordOf(row) : null;
    },

    sessions({ limit }: { limit: number }): readonly SessionRecord[] {
      return sql.all<SessionRow>("SELECT * FROM sessions ORDER BY updated_at DESC LIMIT ?", limit).map(recordOf);
    },

    transcript(key: string, options: { userTurns?: number; generation?: number } = {}): readonly SessionMessage[] {
      const generation = options.generation ?? generationOf(sql, key);
      const { userTurns } = options;
      if (userTurns !== undefined && userTurns < 1) return [];
      const start = userTurns === undefined ? 0 : startOf(key, generation, userTurns);
      const rows = sql.all<MessageRow>(
        "SELECT role, content, at, unit_id FROM messages WHERE session_key = ? AND generation = ? AND id >= ? ORDER BY id",
        key,
        generation,
        start,
      );
      return rows.map((row) => ({
        role: row.role,
        content: JSON.parse(row.content) as Json,
        at: row.at,
        ...(row.unit_id !== null && { unitId: row.unit_id }),
      }));
    },
  };
}
