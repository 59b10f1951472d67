/** Events as lists show them. */
import { decodeLanePart } from "../state/lane.ts";
import type { EventFilter, EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import { withUnit } from "./find-event.ts";

export async function readEvents(
  store: Pick<Store, "events" | "event">,
  filter: EventFilter,
): Promise<readonly EventReport[]> {
  const found = await store.events(filter);
  return await Promise.all(found.map((report) => withUnit(store, report)));
}

export function eventData(report: EventReport) {
  const { id, source, kind, account, acceptedAt, state, outcome, reason, settledAt, agentId, sessionKey, attempts } =
    report;
  const { chat, thread } = placeOf(report);
  return {
    id,
    at: acceptedAt,
    source,
    kind,
    account,
    chat,
    thread,
    ...senderOf(report),
    state,
    ...(outcome === undefined ? {} : { outcome, reason }),
    ...(settledAt === undefined ? {} : { ms: settledAt - acceptedAt }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    attempts,
  };
}

/** The sender and place, as recorded by the ingress station; before that, the kind of event. */
export function fromOf({ source, kind, account, decisions }: EventReport): string {
  const read = decisions.find(({ station, sender }) => station === "ingress" && sender !== undefined);
  return read?.detail ?? [source, kind, account].filter(Boolean).join(", ");
}

function senderOf({ decisions }: EventReport): { readonly sender?: string } {
  const sender = decisions.find((decision) => decision.sender !== undefined)?.sender;
  return sender === undefined ? {} : { sender };
}

/** The lane of a channel's event contains its place: `<channel>:<account>:<chat>`, and its thread. */
export function placeOf({ source, account, lane }: EventReport): { readonly chat?: string; readonly thread?: string } {
  const prefix = `${source}:${account}:`;
  if (account === undefined || !lane.startsWith(prefix)) return {};
  const [place = ""] = lane.slice(prefix.length).split("\t", 1);
  const [chat = "", thread] = place.split(":", 2);
  return { chat: decodeLanePart(chat), ...(thread === undefined ? {} : { thread: decodeLanePart(thread) }) };
}
