/**
 * What was said in sessions. A transcript is one generation of a session: it knows its newest message, and each message the one before it.
 * So a turn writes to pages that lie side by side, however many sessions there are; an index by session would touch a page of its own for each.
 */
import type { Json } from "../../types.ts";
import type { SessionMessage } from "../session.ts";
import type { Desk } from "./desk.ts";
import type { Statements } from "./statements.ts";

export type PackedMessage = readonly [role: string, content: string, at: number, unitId: string | null];

export function packMessage({ role, content, at, unitId }: SessionMessage): PackedMessage {
  return [role, JSON.stringify(content), at, unitId ?? null];
}

interface TranscriptRow {
  readonly id: number;
  /** Absent while it is empty. */
  readonly newest: number | null;
  readonly messages: number;
}

function transcriptOf(sql: Statements, sessionKey: string, generation: number): TranscriptRow | undefined {
  return sql.one<TranscriptRow>(
    "SELECT id, newest, messages FROM transcripts WHERE session_key = ? AND generation = ?",
    sessionKey,
    generation,
  );
}

function generationOf(sql: Statements, sessionKey: string): number {
  return sql.one<{ generation: number }>("SELECT generation FROM sessions WHERE key = ?", sessionKey)?.generation ?? 0;
}

/** Appends to the current generation; a unit that is run again replaces what it wrote before. */
export function writeTranscript(
  desk: Desk,
  { unitId, again }: { readonly unitId: string; readonly again: boolean },
  sessionKey: string,
  messages: readonly PackedMessage[],
): void {
  if (again) forgetUnit(desk, unitId, sessionKey);
  if (messages.length === 0) return;
  const generation = generationOf(desk, sessionKey);
  const known = transcriptOf(desk, sessionKey, generation);
  const id =
    known?.id ??
    desk.insert("INSERT INTO transcripts (session_key, generation, newest, messages) VALUES (?, ?, NULL, 0)", sessionKey, generation);
  let newest = known?.newest ?? null;
  for (const [role, content, at, writer] of messages) {
    newest = desk.insert(
      "INSERT INTO messages (previous, unit_id, role, at, content) VALUES (?, ?, ?, ?, ?)",
      newest,
      writer ?? unitId,
      role,
      at,
      content,
    );
  }
  desk.run("UPDATE transcripts SET newest = ?, messages = messages + ? WHERE id = ?", newest, messages.length, id);
}

interface Link {
  readonly id: number;
  readonly previous: number | null;
  readonly unit_id: string | null;
}

/** Newest first. */
function linksOf(desk: Desk, newest: number | null): readonly Link[] {
  return desk.all<Link>(
    `WITH RECURSIVE chain (id, previous, unit_id) AS (
       SELECT id, previous, unit_id FROM messages WHERE id = ?
       UNION ALL SELECT m.id, m.previous, m.unit_id FROM chain JOIN messages m ON m.id = chain.previous
     ) SELECT id, previous, unit_id FROM chain`,
    newest,
  );
}

function forgetUnit(desk: Desk, unitId: string, sessionKey: string): void {
  for (const { id, newest } of desk.all<TranscriptRow>("SELECT id, newest FROM transcripts WHERE session_key = ?", sessionKey)) {
    const links = linksOf(desk, newest);
    const kept = links.filter((link) => link.unit_id !== unitId);
    const [last] = kept;
    if (kept.length === links.length) continue;
    for (const link of links) if (link.unit_id === unitId) desk.run("DELETE FROM messages WHERE id = ?", link.id);
    for (const [index, { id: message, previous }] of kept.entries()) {
      const before = kept[index + 1]?.id ?? null;
      if (previous !== before) desk.run("UPDATE messages SET previous = ? WHERE id = ?", before, message);
    }
    if (last === undefined) desk.run("DELETE FROM transcripts WHERE id = ?", id);
    else desk.run("UPDATE transcripts SET newest = ?, messages = ? WHERE id = ?", last.id, kept.length, id);
  }
}

/**
 * Gives one session the transcripts of another, before its own. The other's last generation, whose number is `last`, and its own first one are
 * one conversation.
 */
export function moveTranscripts(
  desk: Desk,
  { from, to, last }: { readonly from: string; readonly to: string; readonly last: number },
): void {
  const earlier = transcriptOf(desk, from, last);
  const later = transcriptOf(desk, to, 0);
  if (earlier !== undefined && later !== undefined) {
    const oldest = linksOf(desk, later.newest).at(-1);
    if (oldest !== undefined) desk.run("UPDATE messages SET previous = ? WHERE id = ?", earlier.newest, oldest.id);
    desk.run("DELETE FROM transcripts WHERE id = ?", earlier.id);
    desk.run(
      "UPDATE transcripts SET newest = ?, messages = messages + ? WHERE id = ?",
      later.newest ?? earlier.newest,
      earlier.messages,
      later.id,
    );
  }
  // By way of negative numbers, because SQLite holds each row against the others while it counts them up.
  desk.run("UPDATE transcripts SET generation = -1 - generation - ? WHERE session_key = ?", last, to);
  desk.run("UPDATE transcripts SET session_key = ? WHERE session_key = ?", to, from);
  desk.run("UPDATE transcripts SET generation = -1 - generation WHERE session_key = ? AND generation < 0", to);
}

type MessageRow = readonly [role: SessionMessage["role"], content: string, at: number, unitId: string | null];

export function transcriptReads(sql: Statements) {
  return {
    transcript(key: string, options: { userTurns?: number; generation?: number } = {}): readonly SessionMessage[] {
      const { userTurns = Number.MAX_SAFE_INTEGER } = options;
      if (userTurns < 1) return [];
      const transcript = transcriptOf(sql, key, options.generation ?? generationOf(sql, key));
      if (transcript === undefined) return [];
      // From the newest back to the message with which the last of the turns begins.
      const rows = sql.allLists<MessageRow>(
        `WITH RECURSIVE chain (previous, role, content, at, unit_id, turns) AS (
           SELECT previous, role, content, at, unit_id, role = 'user' FROM messages WHERE id = ?
           UNION ALL SELECT m.previous, m.role, m.content, m.at, m.unit_id, turns + (m.role = 'user')
           FROM chain JOIN messages m ON m.id = chain.previous WHERE turns < ?
         ) SELECT role, content, at, unit_id FROM chain`,
        transcript.newest,
        userTurns,
      );
      return rows.toReversed().map(([role, content, at, unitId]) => ({
        role,
        content: JSON.parse(content) as Json,
        at,
        ...(unitId !== null && { unitId }),
      }));
    },
  };
}
