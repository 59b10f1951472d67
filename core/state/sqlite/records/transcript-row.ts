/** The row of a transcript, which is one generation of a session. */
import type { Statements } from "../database/statements.ts";

export interface TranscriptRow {
  readonly id: number;
  /** Id of the newest message; absent if the transcript is empty. */
  readonly newest: number | null;
  readonly messages: number;
}

export function transcriptOf(sql: Statements, sessionKey: string, generation: number): TranscriptRow | undefined {
  return sql.one<TranscriptRow>(
    "SELECT id, newest, messages FROM transcripts WHERE session_key = ? AND generation = ?",
    sessionKey,
    generation,
  );
}

export function generationOf(sql: Statements, sessionKey: string): number {
  return sql.one<{ generation: number }>("SELECT generation FROM sessions WHERE key = ?", sessionKey)?.generation ?? 0;
}
