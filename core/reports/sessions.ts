/** The conversations with agents: a list, and a window of what was said in one of them. */
import { agentOfKey } from "../agents/conversation/sessions.ts";
import type { SessionReport } from "../state/report.ts";
import type { SessionMessage, SessionSummary } from "../state/session.ts";
import type { Store } from "../state/store.ts";

export async function readSessions(
  store: Pick<Store, "sessionReports">,
  limit: number,
): Promise<readonly SessionReport[]> {
  return (await store.sessionReports({ limit })).map(withAgent);
}

/** A chat's key names its agent, even if nothing else still does. */
export function withAgent(report: SessionReport): SessionReport {
  const agentId = report.agentId ?? agentOfKey(report.key);
  return agentId === undefined ? report : { ...report, agentId };
}

export interface ShownSession {
  readonly session: SessionReport;
  readonly generation: number;
  /** The window that was asked for, oldest first. */
  readonly transcript: readonly SessionMessage[];
  /** How many messages the generation has. */
  readonly count: number;
  /** How many of them are older than the window. */
  readonly older: number;
  readonly summaries: readonly SessionSummary[];
  /** How many of the last messages no summary covers. */
  readonly uncovered: number;
}

/** `before`: the window ends with the message before this one, counted from the first; default: with the last one. */
export async function readShown(
  store: Pick<Store, "transcript" | "summaries" | "conversation">,
  session: SessionReport,
  {
    generation,
    limit,
    before,
  }: { readonly generation: number; readonly limit: number; readonly before?: number | undefined },
): Promise<ShownSession> {
  const all = await store.transcript(session.key, { generation });
  const end = Math.min(before ?? all.length, all.length);
  const older = limit === 0 ? 0 : Math.max(0, end - limit);
  return {
    session,
    generation,
    transcript: all.slice(older, end),
    count: all.length,
    older,
    summaries: await store.summaries(session.key, { generation }),
    uncovered: (await store.conversation(session.key, { generation })).messages.length,
  };
}

export const shownData = ({ session, generation, summaries, transcript }: ShownSession) => ({
  ...session,
  shown: generation,
  summaries,
  transcript,
});
