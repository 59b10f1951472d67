/** Says that the older part of a conversation is summarized: in each trace, and to the reader once. */
import type { Inbound, Route } from "../../contract/index.ts";
import type { Conversation, Store } from "../../state/index.ts";
import { carried, quietLine, turnNotes, type Visit } from "../../stations/index.ts";
import { isOfPerson } from "../spending/asker.ts";

/** By session: the generation whose reader knows of the summary. */
export const summaryNotesNamespace = "summary-notes";

const line = "The older part of this conversation is summarized now; /status shows how much.";

export interface SummaryNotes {
  wasReported(sessionKey: string, generation: number): Promise<boolean>;
  /** Call it while the turn is written. */
  markReported(route: Pick<Route, "sessionKey">, visit: Visit): Promise<unknown> | undefined;
}

const reported = carried<number>("reportedSummary");

export function createSummaryNotes({ store }: { readonly store: Pick<Store, "get" | "set"> }): SummaryNotes {
  return {
    wasReported: async (sessionKey, generation) => (await store.get(summaryNotesNamespace, sessionKey)) === generation,
    markReported({ sessionKey }, visit) {
      const generation = visit.get(reported);
      return generation === undefined ? undefined : store.set(summaryNotesNamespace, sessionKey, generation);
    },
  };
}

export async function noteSummary(
  { summary, summaries }: Conversation,
  {
    inbound,
    route,
    visit,
    generation,
    notes,
  }: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly visit: Visit;
    readonly generation: number;
    readonly notes: SummaryNotes;
  },
): Promise<void> {
  if (summary === null) return;
  const { messages, model, at } = summary;
  const detail =
    `a summary takes the place of ${messages} earlier messages; ${model} wrote it, ` +
    `${summaries === 1 ? "the first" : `number ${summaries}`} of this conversation, at ${new Date(at).toISOString()}`;
  visit.set(turnNotes, [...(visit.get(turnNotes) ?? []), { code: "context_summarized", detail }]);
  if (route.to === null || !isOfPerson(inbound) || (await notes.wasReported(route.sessionKey, generation))) return;
  visit.set(reported, generation);
  visit.set(quietLine, line);
}
