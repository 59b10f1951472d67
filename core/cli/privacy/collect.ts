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
import { approvalsNamespace } from "../../agents/tools/approvals-namespace.ts";
import type { Json } from "../../contract/types.ts";
import type { Person, StoredMessage, StoredRow } from "../../state/removals.ts";
import type { Store } from "../../state/store.ts";
import { allEvents, eventsOf, openAbout, type StoredEvent } from "./events.ts";
import { namesPerson } from "./places.ts";
import { markOf, wordsOf } from "./words.ts";

/** Data of events, whose ids are parts of the keys: calls of tools, questions about them, files of replies. */
const ofEvents = ["tool-calls", approvalsNamespace, "reply-files"] as const;

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
  readonly events: readonly StoredEvent[];
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
  {
    stateDirectory,
    now,
    names,
  }: {
    readonly stateDirectory: string;
    readonly now: () => number;
    /** Of the person whose ids are linked: their conversations have these names. */
    readonly names: readonly string[];
  },
): Promise<Collected> {
  const reports = await eventsOf(store, person);
  const units = [...new Set(reports.flatMap(({ id, unitId }) => [id, unitId ?? id]))];
  const sessions = (await store.sessionReports({ limit: allEvents }))
    .map(({ key }) => key)
    .filter((key) => isTheirs(key, person) || isOfLinked(key, names));
  const messages = await store.messagesAbout({ text: markOf(person), unitIds: units });
  const turns = await withAnswers(store, { messages, units, person });
  const sent = await store.partsTo(person);
  const rows = await rowsOf(store, person, new Set(units));
  const open = await openAbout(store, person);
  return {
    unfinished: new Set([...open, ...reports.flatMap(({ id, state }) => (state === "settled" ? [] : [id]))]).size,
    waitingSummaries: reports.filter(({ kind, state }) => kind === "summary" && state !== "settled").length,
    events: reports.toReversed(),
    sessions,
    turns: turns.filter(({ message }) => !sessions.includes(message.session)),
    sent,
    pairing: await pairingOf(store, person, now),
    rows,
    reactions: await reactionsOf(store, new Set(units), now),
    files: filesIn({ turns, sent, rows }, stateDirectory),
  };
}

/** Data of plugins and of the core, and what is stored with the person's events. */
async function rowsOf(store: Store, person: Person, units: ReadonlySet<string>): Promise<readonly StoredRow[]> {
  const [about, ...listed] = await Promise.all([
    store.rowsAbout(person.id),
    ...ofEvents.map(async (namespace) =>
      (await store.list(namespace)).map(({ key, value }): StoredRow => ({ namespace, key, value })),
    ),
  ]);
  const stored = listed.flat().filter(({ key }) => key.split(":").some((part) => units.has(part)));
  const all = [...about.filter((row) => isAbout(row, person)), ...stored];
  return [...new Map(all.map((row) => [`${row.namespace}\n${row.key}`, row])).values()];
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

/** The conversation of a person with several ids. */
function isOfLinked(key: string, names: readonly string[]): boolean {
  const [, name = ""] = /^agent:[^:]+:person:([^:]+)(?::thread:.*)?$/.exec(key) ?? [];
  return names.includes(name);
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
function isAbout({ namespace, key, value }: StoredRow, person: Person): boolean {
  const { channel, id } = person;
  if (namespace.startsWith("pairing:") || namespace === waitingEventsNamespace) return false;
  if (namespace.startsWith("channel:") && !namespace.startsWith(`channel:${channel}:`)) return false;
  return isInKey(id, key) || namesPerson(value, person);
}

/** Keys are written in many ways; an id may itself contain what separates the parts of a key. */
function isInKey(id: string, key: string): boolean {
  const isEdge = (character: string | undefined) => character === undefined || /[:\t/ ",[\]]/.test(character);
  for (let at = key.indexOf(id); at !== -1; at = key.indexOf(id, at + 1))
    if (isEdge(key[at - 1]) && isEdge(key[at + id.length])) return true;
  return false;
}

/**
 * Files that came with the person's messages, according to the transcripts and to what was heard in them, and copies
 * that were sent to the person. Lists only files that still exist in the folder of a channel account.
 */
function filesIn(
  { turns, sent, rows }: Pick<Collected, "turns" | "sent" | "rows">,
  stateDirectory: string,
): readonly string[] {
  const texts = turns.filter(({ without, message }) => without === undefined && message.role === "user");
  const found = texts.flatMap(({ message }) =>
    [
      ...messageText(message.content).matchAll(/^\[attached [^\n]* at ([^\n\]]+?)(?: (?:showing|saying) [^\n]*)?\]$/gm),
    ].map(([, path = ""]) => path),
  );
  const inMedia = (path: string) =>
    path.startsWith(join(stateDirectory, sep)) && path.split(sep).at(-2) === "media" && !path.includes("..");
  return [...new Set([...found, ...textsIn([sent, rows] as unknown as Json)])].filter(
    (path) => inMedia(path) && existsSync(path),
  );
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
