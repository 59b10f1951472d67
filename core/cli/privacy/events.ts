/**
 * Finds the events of a person: what they caused, what was sent to them, and what names them or their chat in its body,
 * such as the run of a webhook or a reminder.
 */
import type { Json } from "../../contract/types.ts";
import type { Person } from "../../state/removals.ts";
import type { EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { namesPerson } from "./places.ts";

/** More than the inbox keeps. */
export const allEvents = 1_000_000;

export type StoredEvent = EventReport & { readonly body: Json };

/** Newest first. */
export async function eventsOf(store: Store, person: Person): Promise<readonly StoredEvent[]> {
  const all = { limit: allEvents, includeInternal: true } as const;
  const [caused, sent, naming] = await Promise.all([
    store.events({ ...all, sender: person }),
    store.events({ ...all, chat: person }),
    store.events({ ...all, bodyContains: JSON.stringify(person.id).slice(1, -1) }),
  ]);
  const certain = new Set([...caused, ...sent].map(({ id }) => id));
  const reports = [...new Map([...caused, ...sent, ...naming].map((event) => [event.id, event])).values()];
  const events = await Promise.all(reports.map(async (event) => ({ ...event, body: await store.body(event.id) })));
  return events
    .filter((event) => certain.has(event.id) || isAbout(event, person))
    .sort((one, other) => other.acceptedAt - one.acceptedAt);
}

/**
 * The sender of a message is known once it was parsed. An event that ended before that, such as an edit that changes
 * nothing, is taken for the person's if it contains their id.
 */
function isAbout({ source, state, decisions, body }: StoredEvent, person: Person): boolean {
  if (source !== person.channel) return namesPerson(body, person);
  return state === "settled" && decisions.every(({ sender }) => sender === undefined) && holds(body, person.id);
}

/** Unfinished events of the channel that may be the person's. Until one was parsed, only its body shows whose it is. */
export async function openAbout(store: Store, { channel, id }: Person): Promise<readonly string[]> {
  const open = await store.events({ limit: allEvents, open: true, source: channel });
  const bodies = await Promise.all(open.map(async (event) => ({ id: event.id, body: await store.body(event.id) })));
  return bodies.filter(({ body }) => holds(body, id)).map((event) => event.id);
}

/** Whether the value contains the id, as a text or as a number. */
function holds(value: Json, id: string): boolean {
  if (typeof value !== "object" || value === null) return String(value) === id;
  return Object.values(value).some((inner) => holds(inner, id));
}
