/**
 * The transcripts of sessions. A transcript is one generation of a session. It refers to its newest message, and each
 * message to the previous one. A turn thus writes to adjacent pages, however many sessions exist; an index by session
 * would touch a separate page for each.
 */
import type { Json } from "../../../contract/index.ts";
import type { Conversation, SessionMessage } from "../../session.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { forgetSummaries, forgetSummariesOf, moveSummaries, newestSummary } from "./summaries.ts";
import { generationOf, type TranscriptRow, transcriptOf } from "./transcript-row.ts";

export type PackedMessage = readonly [role: string, content: string, at: number, unitId: string | null];

export function packMessage({ role, content, at, unitId }: SessionMessage): PackedMessage {
  return [role, JSON.stringify(content), at, unitId ?? null];
}

/** Appends to the current generation. A unit that runs again replaces its earlier messages. */
export function writeTranscript(
  context: WriteContext,
  { unitId, again }: { readonly unitId: string; readonly again: boolean },
  sessionKey: string,
  messages: readonly PackedMessage[],
): void {
  if (again) forgetUnit(context, unitId, sessionKey);
  if (messages.length === 0) return;
  const generation = generationOf(context, sessionKey);
  const known = transcriptOf(context, sessionKey, generation);
  const id =
    known?.id ??
    context.insert(
      "INSERT INTO transcripts (session_key, generation, newest, messages) VALUES (?, ?, NULL, 0)",
      sessionKey,
      generation,
    );
  let newest = known?.newest ?? null;
  for (const [role, content, at, writer] of messages) {
    newest = context.insert(
      "INSERT INTO messages (previous, unit_id, role, at, content) VALUES (?, ?, ?, ?, ?)",
      newest,
      writer ?? unitId,
      role,
      at,
      content,
    );
  }
  context.run("UPDATE transcripts SET newest = ?, messages = messages + ? WHERE id = ?", newest, messages.length, id);
}

interface Link {
  readonly id: number;
  readonly previous: number | null;
  readonly unit_id: string | null;
}

/** The messages of a transcript, newest first. */
function linksOf(context: WriteContext, newest: number | null): readonly Link[] {
  return context.all<Link>(
    `WITH RECURSIVE chain (id, previous, unit_id) AS (
       SELECT id, previous, unit_id FROM messages WHERE id = ?
       UNION ALL SELECT m.id, m.previous, m.unit_id FROM chain JOIN messages m ON m.id = chain.previous
     ) SELECT id, previous, unit_id FROM chain`,
    newest,
  );
}

function forgetUnit(context: WriteContext, unitId: string, sessionKey: string): void {
  for (const { id } of context.all<{ id: number }>("SELECT id FROM transcripts WHERE session_key = ?", sessionKey))
    removeMessages(context, id, (link) => link.unit_id === unitId);
}

/** Removes messages of one transcript and relinks the others. */
export function removeMessages(context: WriteContext, transcript: number, isRemoved: (message: Link) => boolean): void {
  const newest =
    context.one<{ newest: number | null }>("SELECT newest FROM transcripts WHERE id = ?", transcript)?.newest ?? null;
  const links = linksOf(context, newest);
  const retained = links.filter((link) => !isRemoved(link));
  const [last] = retained;
  if (retained.length === links.length) return;
  forgetSummariesOf(context, transcript, { links, isRemoved });
  for (const link of links) if (isRemoved(link)) context.run("DELETE FROM messages WHERE id = ?", link.id);
  for (const [index, { id: message, previous }] of retained.entries()) {
    const before = retained[index + 1]?.id ?? null;
    if (previous !== before) context.run("UPDATE messages SET previous = ? WHERE id = ?", before, message);
  }
  if (last === undefined) removeTranscript(context, transcript);
  else
    context.run("UPDATE transcripts SET newest = ?, messages = ? WHERE id = ?", last.id, retained.length, transcript);
}

function removeTranscript(context: WriteContext, transcript: number): void {
  context.run("DELETE FROM transcripts WHERE id = ?", transcript);
  forgetSummaries(context, transcript);
}

/** Removes all transcripts of a session. Returns the number of messages. */
export function removeTranscripts(context: WriteContext, sessionKey: string): number {
  let count = 0;
  for (const { id, newest } of context.all<TranscriptRow>(
    "SELECT id, newest FROM transcripts WHERE session_key = ?",
    sessionKey,
  )) {
    for (const link of linksOf(context, newest)) count += context.run("DELETE FROM messages WHERE id = ?", link.id);
    removeTranscript(context, id);
  }
  return count;
}

const stepTranscripts = 50;

/**
 * Removes messages older than `before` in whole turns, so that the remaining transcript begins with a user's message.
 * Performs one step; `after` is where the next one continues.
 */
export function pruneTranscripts(
  context: WriteContext,
  { before, after }: { readonly before: number; readonly after: number },
): { readonly removed: number; readonly after: number | null } {
  const rows = context.all<TranscriptRow>(
    "SELECT id, newest FROM transcripts WHERE id > ? ORDER BY id LIMIT ?",
    after,
    stepTranscripts,
  );
  let removed = 0;
  for (const { id, newest } of rows) removed += cutTranscript(context, { id, newest }, before);
  return { removed, after: rows.length < stepTranscripts ? null : (rows.at(-1)?.id ?? null) };
}

function cutTranscript(
  context: WriteContext,
  { id, newest }: Pick<TranscriptRow, "id" | "newest">,
  before: number,
): number {
  // Stops at the first message that is too old.
  const chain = context.all<{ id: number; at: number; role: string }>(
    `WITH RECURSIVE chain (id, previous, at, role) AS (
       SELECT id, previous, at, role FROM messages WHERE id = ?1
       UNION ALL SELECT m.id, m.previous, m.at, m.role FROM chain JOIN messages m ON m.id = chain.previous
         WHERE chain.at >= ?2
     ) SELECT id, at, role FROM chain`,
    newest,
    before,
  );
  const cut = chain.findIndex((message) => message.at < before);
  if (cut === -1) return 0;
  const retained = chain.slice(0, chain.slice(0, cut).findLastIndex(({ role }) => role === "user") + 1);
  const young = new Set(retained.map((message) => message.id));
  const all = linksOf(context, newest).length;
  removeMessages(context, id, (link) => !young.has(link.id));
  return all - retained.length;
}

/**
 * Moves the transcripts of one session before those of another. The first session's last generation, numbered `last`,
 * and the target's first one become one conversation.
 */
export function moveTranscripts(
  context: WriteContext,
  { from, to, last }: { readonly from: string; readonly to: string; readonly last: number },
): void {
  const earlier = transcriptOf(context, from, last);
  const later = transcriptOf(context, to, 0);
  if (earlier !== undefined && later !== undefined) {
    const oldest = linksOf(context, later.newest).at(-1);
    if (oldest !== undefined) context.run("UPDATE messages SET previous = ? WHERE id = ?", earlier.newest, oldest.id);
    context.run("DELETE FROM transcripts WHERE id = ?", earlier.id);
    moveSummaries(context, earlier.id, later.id);
    context.run(
      "UPDATE transcripts SET newest = ?, messages = messages + ? WHERE id = ?",
      later.newest ?? earlier.newest,
      earlier.messages,
      later.id,
    );
  }
  // Uses negative numbers temporarily, because SQLite checks uniqueness for each row during the update.
  context.run("UPDATE transcripts SET generation = -1 - generation - ? WHERE session_key = ?", last, to);
  context.run("UPDATE transcripts SET session_key = ? WHERE session_key = ?", to, from);
  context.run("UPDATE transcripts SET generation = -1 - generation WHERE session_key = ? AND generation < 0", to);
}

type MessageRow = readonly [
  id: number,
  role: SessionMessage["role"],
  content: string,
  at: number,
  unitId: string | null,
];

export interface ReadOptions {
  readonly userTurns?: number;
  readonly generation?: number;
}

/**
 * Walks from the newest message back to the one with which the last requested turn begins, or to the one behind
 * `until`. Oldest first.
 */
function readMessages(
  sql: Statements,
  { newest }: TranscriptRow,
  { userTurns = Number.MAX_SAFE_INTEGER, until = 0 }: { readonly userTurns?: number; readonly until?: number },
): readonly MessageRow[] {
  const rows = sql.allLists<MessageRow>(
    `WITH RECURSIVE chain (id, previous, role, content, at, unit_id, turns) AS (
       SELECT id, previous, role, content, at, unit_id, role = 'user' FROM messages WHERE id = ?1 AND id <> ?3
       UNION ALL SELECT m.id, m.previous, m.role, m.content, m.at, m.unit_id, turns + (m.role = 'user')
       FROM chain JOIN messages m ON m.id = chain.previous WHERE turns < ?2 AND m.id <> ?3
     ) SELECT id, role, content, at, unit_id FROM chain`,
    newest,
    userTurns,
    until,
  );
  return rows.toReversed();
}

function messageOf([, role, content, at, unitId]: MessageRow): SessionMessage {
  return { role, content: JSON.parse(content) as Json, at, ...(unitId !== null && { unitId }) };
}

export function transcriptReads(sql: Statements) {
  return {
    transcript(key: string, { userTurns, generation }: ReadOptions = {}): readonly SessionMessage[] {
      if (userTurns !== undefined && userTurns < 1) return [];
      const transcript = transcriptOf(sql, key, generation ?? generationOf(sql, key));
      return transcript === undefined ? [] : readMessages(sql, transcript, { userTurns }).map(messageOf);
    },

    conversation(key: string, { userTurns, generation }: ReadOptions = {}): Conversation {
      const transcript = transcriptOf(sql, key, generation ?? generationOf(sql, key));
      if (transcript === undefined) return { summary: null, summaries: 0, messages: [] };
      const { summary, count } = newestSummary(sql, transcript.id);
      const isNone = userTurns !== undefined && userTurns < 1;
      const rows = isNone ? [] : readMessages(sql, transcript, { userTurns, until: summary?.until });
      return { summary, summaries: count, messages: rows.map((row) => ({ id: row[0], ...messageOf(row) })) };
    },
  };
}
