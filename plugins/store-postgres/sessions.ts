/** Sessions and their transcripts. */
import {
  type Address,
  encodeLanePart,
  type Json,
  type SessionMessage,
  type SessionRecord,
  type Store,
} from "service-gateway/sdk/store";
import type { Lease } from "./nodes/lease.ts";
import type { Database } from "./pool.ts";

interface SessionRow {
  readonly key: string;
  readonly agent_id: string;
  readonly generation: number;
  readonly last_recipient: Address | null;
  readonly settings: SessionRecord["settings"];
  readonly updated_at: number;
}

function recordOf(row: SessionRow): SessionRecord {
  return {
    key: row.key,
    agentId: row.agent_id,
    generation: row.generation,
    ...(row.last_recipient !== null && { lastRecipient: row.last_recipient }),
    settings: row.settings,
    updatedAt: row.updated_at,
  };
}

interface MessageRow {
  readonly role: SessionMessage["role"];
  readonly content: string;
  readonly at: number;
  readonly unit_id: string | null;
}

/** The transcript is cut before the oldest of the last user turns. */
const transcriptQuery = `WITH own AS (
    SELECT id FROM @transcripts WHERE session_key = $1
      AND generation = coalesce($2, (SELECT generation FROM @sessions WHERE key = $1), 0)
  ), first AS (
    SELECT position FROM @messages WHERE transcript = (SELECT id FROM own) AND role = 'user'
      ORDER BY position DESC OFFSET $3 LIMIT 1
  )
  SELECT role, content, at, unit_id FROM @messages
  WHERE transcript = (SELECT id FROM own) AND ($3::int IS NULL OR position >= coalesce((SELECT position FROM first),
    position))
  ORDER BY position`;

export function sessionMethods(database: Database, lease: Lease) {
  return {
    async session(key) {
      const [row] = await database.query<SessionRow>("SELECT * FROM @sessions WHERE key = $1", [key]);
      return row === undefined ? null : recordOf(row);
    },
    async sessions({ limit }) {
      const rows = await database.query<SessionRow>("SELECT * FROM @sessions ORDER BY updated_at DESC LIMIT $1", [
        limit,
      ]);
      return rows.map(recordOf);
    },
    async updateSession(key, { agentId, at, settings = {}, lastRecipient, newGeneration = false }) {
      const entries = Object.entries(settings);
      const changed = Object.fromEntries(entries.filter(([, value]) => value !== null));
      const removed = entries.filter(([, value]) => value === null).map(([name]) => name);
      const recipient = lastRecipient === undefined ? null : JSON.stringify(lastRecipient);
      await database.call("update_session", [
        key,
        agentId,
        at,
        JSON.stringify(changed),
        removed,
        recipient,
        newGeneration ? 1 : 0,
      ]);
    },
    async transcript(key, { userTurns, generation } = {}) {
      if (userTurns !== undefined && userTurns < 1) return [];
      const offset = userTurns === undefined ? null : userTurns - 1;
      const rows = await database.query<MessageRow>(transcriptQuery, [key, generation ?? null, offset]);
      return rows.map(({ role, content, at, unit_id }) => ({
        role,
        content: JSON.parse(content) as Json,
        at,
        ...(unit_id !== null && { unitId: unit_id }),
      }));
    },
    async moveChat({ channel, account, from, to, sessions }) {
      const lane = (chat: string) => `${channel}:${account}:${encodeLanePart(chat)}`;
      const moved = [channel, account, from, to, lane(from), lane(to)];
      const pairs = [sessions.map((session) => session.from), sessions.map((session) => session.to)];
      const [row] = await database.call<{ move_chat: number }>("move_chat", [...lease.values(), ...moved, ...pairs]);
      return { moved: row?.move_chat ?? 0 };
    },
  } satisfies Partial<Store>;
}
