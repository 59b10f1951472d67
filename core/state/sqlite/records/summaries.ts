/** Summaries of the older part of conversations. */
import type { SessionSummary } from "../../session.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { generationOf, transcriptOf } from "./transcript-row.ts";

interface SummaryRow {
  readonly id: number;
  readonly until: number;
  readonly messages: number;
  readonly model: string;
  readonly at: number;
  readonly content: string;
}

interface Link {
  readonly id: number;
  readonly previous: number | null;
  readonly unit_id: string | null;
}

export interface NewSummary extends Omit<SessionSummary, "id"> {
  readonly key: string;
  readonly generation: number;
  readonly after: number | null;
}

const columns = "id, until, messages, model, at, content";

function summaryOf({ content, ...row }: SummaryRow): SessionSummary {
  return { ...row, text: content };
}

/** The newest summary of a transcript, and how many there are. */
export function newestSummary(
  sql: Statements,
  transcript: number,
): { readonly summary: SessionSummary | null; readonly count: number } {
  const row = sql.one<SummaryRow>(
    `SELECT ${columns} FROM summaries WHERE transcript = ? ORDER BY id DESC LIMIT 1`,
    transcript,
  );
  if (row === undefined) return { summary: null, count: 0 };
  const count = sql.one<{ count: number }>("SELECT count(*) AS count FROM summaries WHERE transcript = ?", transcript);
  return { summary: summaryOf(row), count: count?.count ?? 1 };
}

export function forgetSummaries(context: WriteContext, transcript: number): void {
  context.run("DELETE FROM summaries WHERE transcript = ?", transcript);
}

/** Those of the later conversation do not cover the earlier one. */
export function moveSummaries(context: WriteContext, earlier: number, later: number): void {
  forgetSummaries(context, later);
  context.run("UPDATE summaries SET transcript = ? WHERE transcript = ?", later, earlier);
}

/**
 * Called before messages are removed, with the links of the transcript, newest first: a summary does not outlive a
 * message that it covers.
 */
export function forgetSummariesOf(
  context: WriteContext,
  transcript: number,
  { links, isRemoved }: { readonly links: readonly Link[]; readonly isRemoved: (message: Link) => boolean },
): void {
  const ends = context.all<{ id: number; until: number }>(
    "SELECT id, until FROM summaries WHERE transcript = ?",
    transcript,
  );
  const oldest = links.findLastIndex(isRemoved);
  for (const { id, until } of ends)
    if (links.findIndex((link) => link.id === until) <= oldest) context.run("DELETE FROM summaries WHERE id = ?", id);
}

export function summaryWrites(context: WriteContext) {
  return {
    addSummary({ key, generation, after, until, messages, model, at, text }: NewSummary): boolean {
      const transcript = transcriptOf(context, key, generation);
      if (transcript === undefined) return false;
      const { summary } = newestSummary(context, transcript.id);
      if ((summary?.id ?? null) !== after) return false;
      // The walk ends at what is covered, so it is short.
      const found = context.one(
        `WITH RECURSIVE chain (id, previous) AS (
           SELECT id, previous FROM messages WHERE id = ?1 AND id <> ?3
           UNION ALL SELECT m.id, m.previous FROM chain JOIN messages m ON m.id = chain.previous WHERE m.id <> ?3
         ) SELECT id FROM chain WHERE id = ?2 LIMIT 1`,
        transcript.newest,
        until,
        summary?.until ?? 0,
      );
      if (found === undefined) return false;
      context.run(
        "INSERT INTO summaries (transcript, until, messages, model, at, content) VALUES (?, ?, ?, ?, ?, ?)",
        transcript.id,
        until,
        messages,
        model,
        at,
        text,
      );
      return true;
    },
  };
}

export function summaryReads(sql: Statements) {
  return {
    summaries(key: string, { generation }: { readonly generation?: number } = {}): readonly SessionSummary[] {
      const transcript = transcriptOf(sql, key, generation ?? generationOf(sql, key));
      if (transcript === undefined) return [];
      return sql
        .all<SummaryRow>(`SELECT ${columns} FROM summaries WHERE transcript = ? ORDER BY id`, transcript.id)
        .map(summaryOf);
    },
  };
}
