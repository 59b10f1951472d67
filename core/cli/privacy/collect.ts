/** All that is kept of a person, wherever it is. */
import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { createPairing } from "../../access/pairing.ts";
import { messageText } from "../../agents/conversation/transcript.ts";
import type { Json } from "../../contract/types.ts";
import type { KeptMessage, KeptRow, Person } from "../../state/removals.ts";
import type { EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { markOf, wordsOf } from "./words.ts";

/** More than the inbox keeps. */
const allEvents = 1_000_000;

export interface KeptTurn {
  readonly message: KeptMessage;
  /** Absent: the whole message goes. Present: what stays of it without their words. */
  readonly without?: string;
}

export interface Collected {
  readonly events: readonly (EventReport & { readonly body: Json })[];
  /** Keys of the sessions that are theirs alone. */
  readonly sessions: readonly string[];
  /** In other sessions: what they said, and what was answered. */
  readonly turns: readonly KeptTurn[];
  readonly sent: Awaited<ReturnType<Store["partsTo"]>>;
  readonly pairing: readonly Json[];
  readonly rows: readonly KeptRow[];
  readonly files: readonly string[];
}

export async function collect(
  store: Store,
  person: Person,
  { stateDirectory, now }: { readonly stateDirectory: string; readonly now: () => number },
): Promise<Collected> {
  const [caused, inChat] = await Promise.all([
    store.events({ limit: allEvents, sender: person }),
    store.events({ limit: allEvents, chat: person, source: person.channel }),
  ]);
  const reports = [...new Map([...caused, ...inChat].map((event) => [event.id, event])).values()];
  const events = await Promise.all(reports.map(async (event) => ({ ...event, body: await store.body(event.id) })));
  const units = [...new Set(reports.flatMap(({ id, unitId }) => [id, unitId ?? id]))];
  const sessions = (await store.sessionReports({ limit: allEvents })).map(({ key }) => key).filter((key) => isTheirs(key, person));
  const messages = await store.messagesAbout({ text: markOf(person), unitIds: units });
  const turns = await withAnswers(store, { messages, units, person });
  const sent = await store.partsTo(person);
  return {
    events: events.toReversed(),
    sessions,
    turns: turns.filter(({ message }) => !sessions.includes(message.session)),
    sent,
    pairing: await pairingOf(store, person, now),
    rows: (await store.rowsAbout(person.id)).filter((row) => isAbout(row, person)),
    files: filesIn(turns, stateDirectory),
  };
}

/** A direct chat has a session of its own unless `session.dmScope` is `main`. */
function isTheirs(key: string, { channel, id }: Person): boolean {
  const [, scope] = /^agent:[^:]+:(.*?)dm:/.exec(key) ?? [];
  const peer = key.slice(key.indexOf(":dm:") + 4).replace(/:thread:.*$/, "");
  return scope !== undefined && (scope === "" || scope.startsWith(`${channel}:`)) && (peer === id || peer === encodeURIComponent(id));
}

/** The answer belongs to the turn, and quotes what was asked often enough. */
async function withAnswers(
  store: Store,
  { messages, units, person }: { readonly messages: readonly KeptMessage[]; readonly units: readonly string[]; readonly person: Person },
): Promise<readonly KeptTurn[]> {
  const theirs = new Set(units);
  for (const { content, unitId, role } of messages)
    if (unitId !== undefined && role === "user" && wordsOf(person, content).asked) theirs.add(unitId);
  const all = await store.messagesAbout({ text: markOf(person), unitIds: [...theirs] });
  return all.flatMap((message): readonly KeptTurn[] => {
    const { asked, without } = message.role === "user" ? wordsOf(person, message.content) : { asked: false };
    if (asked || (message.unitId !== undefined && theirs.has(message.unitId))) return [{ message }];
    return without === undefined ? [] : [{ message, without }];
  });
}

async function pairingOf(store: Store, { channel, id }: Person, now: () => number): Promise<readonly Json[]> {
  const pairing = createPairing({ store, now });
  const [pending, paired] = await Promise.all([pairing.pending(channel), pairing.paired(channel)]);
  const owners = await Promise.all(paired.map(async ({ account }) => (await pairing.owners(channel, account)).includes(id)));
  return [
    ...pending.filter(({ senderId }) => senderId === id).map(({ code: _code, ...request }) => ({ state: "waiting", ...request })),
    ...paired.flatMap((sender, index) => (sender.senderId === id ? [{ state: "approved", owner: owners[index], ...sender }] : [])),
  ] as unknown as readonly Json[];
}

/** Data of plugins and of the core under their id, or that says it belongs to their chat. Pairing has its own way. */
function isAbout({ namespace, key, value }: KeptRow, { channel, id }: Person): boolean {
  if (namespace.startsWith("pairing:")) return false;
  // Their reactions and presses, until the next turn of the session is told of them.
  if (namespace === "waiting-events") return JSON.stringify(value).includes(`${markOf({ channel, id })} `);
  if (namespace.startsWith("channel:") && !namespace.startsWith(`channel:${channel}:`)) return false;
  return key.split(/[:\t/ ]/).includes(id) || isPlace(value, { channel, id }) || mentions(value, { channel, id });
}

const isPlace = (value: Json, { channel, id }: Person): boolean =>
  isObject(value) && value.channel === channel && (value.chat === id || value.id === id || value.senderId === id);

const mentions = (value: Json, person: Person): boolean => isObject(value) && Object.values(value).some((inner) => isPlace(inner, person));

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Files that came with their messages, by the notes of the transcripts. Only what is still there, in the folder of a channel's account. */
function filesIn(turns: readonly KeptTurn[], stateDirectory: string): readonly string[] {
  const texts = turns.filter(({ without, message }) => without === undefined && message.role === "user");
  const found = texts.flatMap(({ message }) =>
    [...messageText(message.content).matchAll(/^\[attached [^\n]* at ([^\n\]]+?)(?: showing [^\n]*)?\]$/gm)].map(([, path = ""]) => path),
  );
  const inMedia = (path: string) =>
    path.startsWith(join(stateDirectory, sep)) && path.split(sep).at(-2) === "media" && !path.includes("..");
  return [...new Set(found)].filter((path) => inMedia(path) && existsSync(path));
}
