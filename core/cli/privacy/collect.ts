/** Collects everything that is stored about a person. */
import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { createPairing } from "../../access/pairing.ts";
import { messageText } from "../../agents/conversation/transcript.ts";
import {
  createWaitingEvents,
  type WaitingEvent,
  waitingEventsNamespace,
} from "../../agents/conversation/waiting-events.ts";
import type { Json } from "../../contract/types.ts";
import type { Person, StoredMessage, StoredRow } from "../../state/removals.ts";
import type { EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { markOf, wordsOf } from "./words.ts";

/** Where `call-records.ts` stores the calls of tools. Each key begins with the id of the event and a colon. */
const toolCalls = "tool-calls";
/** More than the inbox keeps. */
const allEvents = 1_000_000;

export interface StoredTurn {
  readonly message: StoredMessage;
  /** Absent: the whole message is removed. Present: the message without the person's words. */
  readonly without?: string;
}

export interface Collected {
  /**
   * How many unfinished events may be the person's. Until an event has been parsed, only its body shows whose it is.
   */
  readonly unfinished: number;
  /** How many of them are summaries, with the address of a reply to the person, that wait for a turn. */
  readonly waitingSummaries: number;
  readonly events: readonly (EventReport & { readonly body: Json })[];
  /** Keys of the sessions that belong to the person alone. */
  readonly sessions: readonly string[];
  /** In other sessions: what the person said, and the replies. */
  readonly turns: readonly StoredTurn[];
  readonly sent: Awaited<ReturnType<Store["partsTo"]>>;
  readonly pairing: readonly Json[];
  readonly rows: readonly StoredRow[];
  /** The person's reactions, which wait for the next turn of a session. */
  readonly reactions: readonly { readonly session: string; readonly events: readonly WaitingEvent[] }[];
  readonly files: readonly string[];
}

export async function collect(
  store: Store,
  person: Person,
  { stateDirectory, now }: { readonly stateDirectory: string; readonly now: () => number },
): Promise<Collected> {
  const [caused, inChat, actions, summaries] = await Promise.all([
    store.events({ limit: allEvents, sender: person }),
    store.events({ limit: allEvents, chat: person, source: person.channel }),
    // What the operator and agents sent there by hand or by a tool: the bodies of these events contain it.
    store.events({ limit: allEvents, chat: person, source: "operator" }),
    summariesTo(store, person),
  ]);
  const found = [...caused, ...inChat, ...actions, ...summaries];
  const reports = [...new Map(found.map((event) => [event.id, event])).values()];
  const events = await Promise.all(reports.map(async (event) => ({ ...event, body: await store.body(event.id) })));
  const units = [...new Set(reports.flatMap(({ id, unitId }) => [id, unitId ?? id]))];
  const sessions = (await store.sessionReports({ limit: allEvents }))
    .map(({ key }) => key)
    .filter((key) => isTheirs(key, person));
  const messages = await store.messagesAbout({ text: markOf(person), unitIds: units });
  const turns = await withAnswers(store, { messages, units, person });
  const sent = await store.partsTo(person);
  const open = await openAbout(store, person);
  return {
    unfinished: new Set([...open, ...reports.flatMap(({ id, state }) => (state === "settled" ? [] : [id]))]).size,
    waitingSummaries: summaries.filter(({ state }) => state !== "settled").length,
    events: events.toReversed(),
    sessions,
    turns: turns.filter(({ message }) => !sessions.includes(message.session)),
    sent,
    pairing: await pairingOf(store, person, now),
    rows: await rowsOf(store, person, new Set(units)),
    reactions: await reactionsOf(store, new Set(units), now),
    files: filesIn(turns, stateDirectory),
  };
}

/** Data of plugins and of the core, and the recorded calls of tools in the person's events. */
async function rowsOf(store: Store, person: Person, units: ReadonlySet<string>): Promise<readonly StoredRow[]> {
  const [about, recorded] = await Promise.all([store.rowsAbout(person.id), store.list(toolCalls)]);
  const calls = recorded.flatMap(({ key, value }) =>
    units.has(key.slice(0, key.indexOf(":"))) ? [{ namespace: toolCalls, key, value }] : [],
  );
  const all = [...about.filter((row) => isAbout(row, person)), ...calls];
  return [...new Map(all.map((row) => [`${row.namespace}\n${row.key}`, row])).values()];
}

/** The summaries of hook runs whose reply went to the person: each contains the address of the reply. */
async function summariesTo(store: Store, person: Person): Promise<readonly EventReport[]> {
  const events = await store.events({ limit: allEvents, source: "hooks", includeInternal: true });
  const summaries = events.filter(({ kind }) => kind === "summary");
  const bodies = await Promise.all(summaries.map(({ id }) => store.body(id)));
  return summaries.filter((_, index) => {
    const { reply = null } = (isObject(bodies[index] ?? null) ? bodies[index] : {}) as { readonly reply?: Json };
    return mentions(reply, person);
  });
}

async function openAbout(store: Store, { channel, id }: Person): Promise<readonly string[]> {
  const open = await store.events({ limit: allEvents, open: true, source: channel });
  const bodies = await Promise.all(open.map(async (event) => ({ id: event.id, body: await store.body(event.id) })));
  return bodies.filter(({ body }) => holds(body, id)).map((event) => event.id);
}

/** Whether the value contains the id, as a text or as a number. */
function holds(value: Json, id: string): boolean {
  if (typeof value !== "object" || value === null) return String(value) === id;
  return Object.values(value).some((inner) => holds(inner, id));
}

async function reactionsOf(store: Store, ids: ReadonlySet<string>, now: () => number): Promise<Collected["reactions"]> {
  const waiting = createWaitingEvents({ store, now });
  const sessions = (await store.list(waitingEventsNamespace)).map(({ key }) => key);
  const found = await Promise.all(
    sessions.map(async (session) => ({ session, events: (await waiting.of(session)).filter(({ id }) => ids.has(id)) })),
  );
  return found.filter(({ events }) => events.length > 0);
}

/** A direct chat has its own session unless `session.dmScope` is `main`. */
function isTheirs(key: string, { channel, id }: Person): boolean {
  const [, scope] = /^agent:[^:]+:(.*?)dm:/.exec(key) ?? [];
  const peer = key.slice(key.indexOf(":dm:") + 4).replace(/:thread:.*$/, "");
  return (
    scope !== undefined &&
    (scope === "" || scope.startsWith(`${channel}:`)) &&
    (peer === id || peer === encodeURIComponent(id))
  );
}

/** The reply belongs to the turn, and often quotes the question. */
async function withAnswers(
  store: Store,
  {
    messages,
    units,
    person,
  }: { readonly messages: readonly StoredMessage[]; readonly units: readonly string[]; readonly person: Person },
): Promise<readonly StoredTurn[]> {
  const theirs = new Set(units);
  for (const { content, unitId, role } of messages)
    if (unitId !== undefined && role === "user" && wordsOf(person, content).asked) theirs.add(unitId);
  const all = await store.messagesAbout({ text: markOf(person), unitIds: [...theirs] });
  return all.flatMap((message): readonly StoredTurn[] => {
    const { asked, without } = message.role === "user" ? wordsOf(person, message.content) : { asked: false };
    if (asked || (message.unitId !== undefined && theirs.has(message.unitId))) return [{ message }];
    return without === undefined ? [] : [{ message, without }];
  });
}

async function pairingOf(store: Store, { channel, id }: Person, now: () => number): Promise<readonly Json[]> {
  const pairing = createPairing({ store, now });
  const [pending, paired] = await Promise.all([pairing.pending(channel), pairing.paired(channel)]);
  const owners = await Promise.all(
    paired.map(async ({ account }) => (await pairing.owners(channel, account)).includes(id)),
  );
  return [
    ...pending
      .filter(({ senderId }) => senderId === id)
      .map(({ code: _code, ...request }) => ({ state: "waiting", ...request })),
    ...paired.flatMap((sender, index) =>
      sender.senderId === id ? [{ state: "approved", owner: owners[index], ...sender }] : [],
    ),
  ] as unknown as readonly Json[];
}

/**
 * Data of plugins and of the core whose key is the person's id or that names the person's chat. Pairing and reactions
 * are handled separately.
 */
function isAbout({ namespace, key, value }: StoredRow, { channel, id }: Person): boolean {
  if (namespace.startsWith("pairing:") || namespace === waitingEventsNamespace) return false;
  if (namespace.startsWith("channel:") && !namespace.startsWith(`channel:${channel}:`)) return false;
  return key.split(/[:\t/ ",[\]]/).includes(id) || isPlace(value, { channel, id }) || mentions(value, { channel, id });
}

const isPlace = (value: Json, { channel, id }: Person): boolean =>
  isObject(value) && value.channel === channel && (value.chat === id || value.id === id || value.senderId === id);

const mentions = (value: Json, person: Person): boolean =>
  isObject(value) && Object.values(value).some((inner) => isPlace(inner, person));

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Files that came with the person's messages, according to the transcripts. Lists only files that still exist in the
 * folder of a channel account.
 */
function filesIn(turns: readonly StoredTurn[], stateDirectory: string): readonly string[] {
  const texts = turns.filter(({ without, message }) => without === undefined && message.role === "user");
  const found = texts.flatMap(({ message }) =>
    [
      ...messageText(message.content).matchAll(/^\[attached [^\n]* at ([^\n\]]+?)(?: (?:showing|saying) [^\n]*)?\]$/gm),
    ].map(([, path = ""]) => path),
  );
  const inMedia = (path: string) =>
    path.startsWith(join(stateDirectory, sep)) && path.split(sep).at(-2) === "media" && !path.includes("..");
  return [...new Set(found)].filter((path) => inMedia(path) && existsSync(path));
}
