/** Sessions and their transcripts. */
import {
  type Address,
  encodeLanePart,
  type Json,
  type PlacedMessage,
  type SessionMessage,
  type SessionRecord,
  type SessionSummary,
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
  readonly id: number;
  readonly role: SessionMessage["role"];
  readonly content: string;
  readonly at: number;
  readonly unit_id: string | null;
}

function messageOf({ id, role, content, at, unit_id }: MessageRow): PlacedMessage {
  return { id, role, content: JSON.parse(content) as Json, at, ...(unit_id !== null && { unitId: unit_id }) };
}

const ownTranscript = `own AS (
    SELECT id FROM @transcripts WHERE session_key = $1
      AND generation = coalesce($2, (SELECT generation FROM @sessions WHERE key = $1), 0)
  )`;

/** The transcript is cut before the oldest of the last user turns. */
const firstOfTurns = `first AS (
    SELECT position FROM @messages WHERE transcript = (SELECT id FROM own) AND role = 'user'
      ORDER BY position DESC OFFSET $3 LIMIT 1
  )`;
const ofLastTurns = `transcript = (SELECT id FROM own)
    AND ($3::int IS NULL OR position >= coalesce((SELECT position FROM first), position))`;

const transcriptQuery = `WITH ${ownTranscript}, ${firstOfTurns}
  SELECT id, role, content, at, unit_id FROM @messages WHERE ${ofLastTurns} ORDER BY position`;

/** The id of the newest message that a summary covers. */
const coveredUntil = `(SELECT m.id FROM @messages m WHERE m.transcript = s.transcript AND m.position <= s.until
    ORDER BY m.position DESC LIMIT 1)`;

/** One statement, so that a summary that is added meanwhile does not hide messages. */
const conversationQuery = `WITH ${ownTranscript}, ${firstOfTurns}, newest AS (
    SELECT s.*, ${coveredUntil} AS message, count(*) OVER () AS total FROM @summaries s
      WHERE s.transcript = (SELECT id FROM own) ORDER BY s.id DESC LIMIT 1
  )
  SELECT NULL::bigint AS position, id, 'summary' AS role, content, at, NULL AS unit_id, message AS until, messages,
    model, total FROM newest
  UNION ALL
  SELECT position, id, role, content, at, unit_id, NULL, NULL, NULL, NULL FROM @messages
    WHERE ${ofLastTurns} AND position > coalesce((SELECT until FROM newest), position - 1)
  ORDER BY 1 NULLS FIRST`;

interface SummaryRow {
  readonly id: number;
  readonly until: number;
  readonly messages: number;
  readonly content: string;
  readonly model: string;
  readonly at: number;
}

function summaryOf({ id, until, messages, content, model, at }: SummaryRow): SessionSummary {
  return { id, until, messages, text: content, model, at };
}

const offsetOf = (userTurns: number | undefined): number | null =>
  userTurns === undefined ? null : Math.max(0, userTurns - 1);

const summariesQuery = `WITH ${ownTranscript}
  SELECT s.id, ${coveredUntil} AS until, s.messages, s.content, s.model, s.at
  FROM @summaries s WHERE s.transcript = (SELECT id FROM own) ORDER BY s.id`;

interface ReadOptions {
  readonly userTurns?: number;
  readonly generation?: number;
}

export function sessionMethods(database: Database, lease: Lease) {
  async function summaries(key: string, { generation }: ReadOptions = {}): Promise<readonly SessionSummary[]> {
    return (await database.query<SummaryRow>(summariesQuery, [key, generation ?? null])).map(summaryOf);
  }

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
      const rows = await database.query<MessageRow>(transcriptQuery, [key, generation ?? null, offsetOf(userTurns)]);
      return rows.map((row) => {
        const { id: _, ...message } = messageOf(row);
        return message;
      });
    },
    async conversation(key, { userTurns, generation } = {}) {
      const values = [key, generation ?? null, offsetOf(userTurns)];
      const rows = await database.query<MessageRow & SummaryRow & { readonly total: number }>(
        conversationQuery,
        values,
      );
      const [first] = rows;
      const found = first !== undefined && String(first.role) === "summary" ? first : undefined;
      const messages = userTurns !== undefined && userTurns < 1 ? [] : rows.slice(found === undefined ? 0 : 1);
      return {
        summary: found ? summaryOf(found) : null,
        summaries: found?.total ?? 0,
        messages: messages.map(messageOf),
      };
    },
    summaries,
    async addSummary(key, { generation, after, until, messages: count, model, at, text }) {
      const values = [key, generation, after, until, count, model, at, text];
      const [row] = await database.call<{ add_summary: boolean }>("add_summary", values);
      return row?.add_summary === true;
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
