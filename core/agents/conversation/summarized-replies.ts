/**
 * Summaries of replies that were delivered to the chat of the heartbeat. Its reader knows them, so they alone start no
 * turn.
 */
import type { Address, Route, Silent } from "../../contract/index.ts";
import type { Store, StoredEvent } from "../../state/index.ts";
import { carried, type Visit } from "../../stations/index.ts";

/** The reply that a summary is about: the event of its run, and the chat that the reply went to. */
export interface SummarizedReply {
  readonly event: string;
  readonly to: Address;
}

/** Set if nothing but such summaries asks for the heartbeat. */
const summarized = carried<readonly SummarizedReply[]>("summarized");

function replyOf({ source, kind, body }: StoredEvent): SummarizedReply | undefined {
  if (source !== "hooks" || kind !== "summary") return undefined;
  return (body as { readonly reply?: SummarizedReply } | null)?.reply;
}

/** For the `ingress` station. A tick asks for a turn only if there are notes to read. */
export function noteSummarized(
  events: readonly StoredEvent[],
  visit: Visit,
  { hasNotes }: { readonly hasNotes: boolean },
): void {
  const asking = hasNotes ? events : events.filter(({ source }) => source !== "heartbeat");
  const replies = asking.flatMap((event) => replyOf(event) ?? []);
  if (replies.length > 0 && replies.length === asking.length) visit.set(summarized, replies);
}

const isSamePlace = (a: Address, b: Address) =>
  a.channel === b.channel && a.account === b.account && a.chat === b.chat && a.thread === b.thread;

/**
 * For the `turn` station: the heartbeat ends here if its reader has all the replies. A reply on its way counts as
 * delivered.
 */
export function deliveredAlready(
  visit: Visit,
  { to }: Route,
  store: Pick<Store, "event">,
): Promise<Silent | undefined> | undefined {
  const replies = visit.get(summarized);
  if (replies === undefined || to === null || !replies.every((reply) => isSamePlace(reply.to, to))) return undefined;
  return Promise.all(replies.map(({ event }) => store.event(event))).then((runs) =>
    runs.some((run) => run?.outcome === "failed") ? undefined : { silent: "delivered_already" },
  );
}
