/** `privacy`: exports or removes everything that is stored about a person. */
import { rm } from "node:fs/promises";
import { configuredPeople, createStoredPeople, isSameId, writtenId } from "../../access/links/people.ts";
import { createLinkRequests } from "../../access/links/requests.ts";
import { createPairing } from "../../access/pairing.ts";
import { summaryNotesNamespace } from "../../agents/context/summary-notes.ts";
import { createWaitingEvents } from "../../agents/conversation/waiting-events.ts";
import { withdrawGrants } from "../../agents/tools/tool-grants.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { programCommand } from "../../contract/command.ts";
import type { Person } from "../../state/removals.ts";
import type { Store } from "../../state/store.ts";
import { isEmbedded } from "../../stores/place.ts";
import type { CommandContext } from "../context.ts";
import { writeOut } from "../output/out-file.ts";
import { type Collected, collect } from "./collect.ts";
import { parsePerson, settingsNaming } from "./person.ts";

interface Looked {
  readonly person: Person;
  readonly store: Store;
  readonly found: Collected;
  readonly settings: readonly string[];
}

/** Looks for the person, and for the same person under linked ids. */
async function look<Result>(
  context: CommandContext,
  wanted: string,
  run: (looked: readonly [Looked, ...Looked[]]) => Promise<Result>,
): Promise<Result> {
  const { config } = await context.load();
  const person = parsePerson(wanted, config);
  const store = await context.openState();
  try {
    const { names, others } = await linkedTo(store, config, person);
    const stateDirectory = await context.stateDirectory();
    const lookAt = async (one: Person, own: readonly string[]): Promise<Looked> => {
      const found = await collect(store, one, { stateDirectory, now: context.now, names: own });
      return { person: one, store, found, settings: settingsNaming(config, one) };
    };
    // The shared conversation is listed once.
    const first = await lookAt(person, names);
    const rest: Looked[] = [];
    for (const other of others) rest.push(await lookAt(other, []));
    return await run([first, ...rest]);
  } finally {
    await store.close();
  }
}

/** The person's other ids, by the configuration and by `/link`. */
async function linkedTo(
  store: Store,
  { session }: GatewayConfig,
  person: Person,
): Promise<{ readonly names: readonly string[]; readonly others: readonly Person[] }> {
  const stored = await createStoredPeople({ store, configured: () => [] }).all();
  const isPerson = (id: Person) => isSameId(id, person);
  const people = [...configuredPeople(session.identityLinks), ...stored].filter(({ ids }) => ids.some(isPerson));
  const ids = people.flatMap((one) => one.ids).filter((id) => !isPerson(id));
  const others = new Map(ids.map((id) => [writtenId(id), id]));
  return { names: people.map(({ name }) => name), others: [...others.values()] };
}

/** Data that cannot be found by a person's id, and why. */
const notLookedThrough = [
  "Log files name chats by their ids; they are overwritten after 20 MB.",
  "Files that agents wrote into their workspaces: the gateway does not know whom they are about.",
  "Copies of the state directory, and what the model's provider and the chat platform store.",
] as const;

export async function exportPerson(
  context: CommandContext,
  [wanted]: readonly [string],
  { out }: { readonly out?: string },
): Promise<number> {
  return await look(context, wanted, async ([first, ...others]) => {
    const linked = [];
    for (const other of others) linked.push(await dataOf(other));
    const data = {
      ...(await dataOf(first)),
      ...(linked.length > 0 && { linked }),
      exportedAt: new Date(context.now()).toISOString(),
      notIncluded: notLookedThrough,
    };
    writeOut(data, { out, terminal: context.terminal });
    const all = [first, ...others];
    if (all.every(({ found }) => isNothing(found))) context.terminal.note(checkName(first.person));
    if (out !== undefined) {
      for (const { person, found } of all)
        context.terminal.line(`The stored data of ${writtenId(person)} is in ${out}: ${summary(found)}.`);
      context.terminal.line(`Not included:\n${notLookedThrough.map((line) => `  ${line}`).join("\n")}`);
    }
    return 0;
  });
}

async function dataOf({ person, store, found, settings }: Looked) {
  const { sessions, turns, sent, events, pairing, rows, reactions, files } = found;
  const conversations = [];
  for (const session of sessions) {
    const { generation } = (await store.session(session)) ?? { generation: 0 };
    for (let number = 0; number <= generation; number += 1)
      conversations.push({
        session,
        generation: number,
        summaries: await store.summaries(session, { generation: number }),
        messages: await store.transcript(session, { generation: number }),
      });
  }
  const modelCalls = (await store.usage({ since: 0, by: "sender" })).filter(
    ({ sender }) => sender === writtenId(person),
  );
  const inOtherConversations = turns.map(({ message: { session, generation, role, at, content } }) => ({
    session,
    generation,
    role,
    at,
    content,
  }));
  return {
    ...{ person, events, conversations, inOtherConversations, sent, pairing, data: rows, modelCalls },
    ...{ reactions, files, settings },
  };
}

interface EraseOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function erasePerson(
  context: CommandContext,
  [wanted]: readonly [string],
  options: EraseOptions,
): Promise<number> {
  const { dryRun = false } = options;
  const [gateway, place] = await Promise.all([context.gateway(), context.place()]);
  const [running, embedded] = [gateway !== null, isEmbedded(place)];
  const code = await look(context, wanted, async (people) => {
    const remaining = remains({ embedded, running });
    if (!dryRun) for (const looked of people) await erase(looked, context.now);
    const { terminal } = context;
    if (options.json === true) {
      const [first, ...linked] = people.map((looked) => ({
        person: looked.person,
        erased: !dryRun,
        ...counts(looked.found),
        kept: retainedOf(looked, remaining),
      }));
      terminal.json({ ...first, ...(linked.length > 0 && { linked }) });
    } else
      for (const looked of people) {
        const { person, found } = looked;
        terminal.line(`${dryRun ? "Would erase" : "Erased"} of ${writtenId(person)}: ${summary(found)}.`);
        if (isNothing(found)) terminal.note(checkName(person));
        terminal.line(
          `Kept:\n${retainedOf(looked, remaining)
            .map((line) => `  ${line}`)
            .join("\n")}`,
        );
      }
    return people.every(({ found }) => found.unfinished === 0) ? 0 : 1;
  });
  // Removed rows leave their bytes in free pages until the whole file is rewritten, which is not possible while a
  // gateway runs.
  if (embedded && !running && !dryRun)
    (await import("../../state/sqlite/database/shrinking.ts")).rewriteDatabase(await context.stateDirectory());
  return code;
}

/** What an erasure does not remove, and why. */
function retainedOf(
  { found: { unfinished: open, waitingSummaries }, settings }: Looked,
  remaining: readonly string[],
): readonly string[] {
  const unfinished = open - waitingSummaries;
  return [
    "The keys by which repetitions are recognised, without contents, for seven days: a repeated event " +
      "must not run again.",
    "The tokens of their model calls, without the person: the budgets of the bot count them.",
    ...(unfinished === 0
      ? []
      : [
          `${unfinished} ${unfinished === 1 ? "event that has" : "events that have"} not ended: run this ` +
            "again later.",
        ]),
    ...(waitingSummaries === 0
      ? []
      : [
          `${waitingSummaries} ${waitingSummaries === 1 ? "summary of a hook" : "summaries of hooks"} with the ` +
            "address of the reply, which the next turn of the main session compares with its own chat: run this " +
            "again after that.",
        ]),
    ...(settings.length === 0
      ? []
      : [`The configuration is not changed; it names the person at ${settings.join(", ")}.`]),
    ...remaining,
    ...notLookedThrough,
  ];
}

/** Where the bytes of removed rows remain for a time. */
function remains({ embedded, running }: { readonly embedded: boolean; readonly running: boolean }): readonly string[] {
  if (!embedded)
    return ["The database may keep the bytes of removed rows in its files and backups until it reuses their space."];
  return running
    ? ["The data remains in the free space of state.db. Stop the gateway and run this again to rewrite the file."]
    : [];
}

async function erase({ store, person, found }: Looked, now: () => number): Promise<void> {
  for (const session of found.sessions) {
    await store.deleteSession(session);
    for (const namespace of ["waiting-events", "group-context", summaryNotesNamespace])
      await store.delete(namespace, session);
  }
  for (const [transcript, turns] of Map.groupBy(found.turns, ({ message }) => message.transcript)) {
    const remove = turns.flatMap(({ message, without }) => (without === undefined ? [message.id] : []));
    const replace = turns.flatMap(({ message, without }) =>
      without === undefined ? [] : [{ id: message.id, content: without }],
    );
    await store.editTranscript({ transcript, remove, replace });
  }
  await store.removeSentTo(person);
  await createLinkRequests({ store, now }).forget(person, { denied: true });
  await createStoredPeople({ store, configured: () => [] }).unlink(person);
  for (const file of found.files) await rm(file, { force: true });
  const pairing = createPairing({ store, now });
  for (const { code, senderId } of await pairing.pending(person.channel))
    if (senderId === person.id) await pairing.deny(person.channel, code);
  await pairing.revoke(person.channel, person.id);
  // Also those that the person gave to others as an owner, and those of conversations that are deleted.
  await withdrawGrants(
    store,
    ({ sessionKey, byOwner, ...holder }) =>
      found.sessions.includes(sessionKey) ||
      [holder, byOwner].some((one) => one?.channel === person.channel && one.senderId === person.id),
  );
  for (const { namespace, key } of found.rows) await store.delete(namespace, key);
  const waiting = createWaitingEvents({ store, now });
  for (const { session, events } of found.reactions) await waiting.remove(session, events);
  // Events are removed last: without them it would be unknown which turns were the person's.
  await store.removeEvents(found.events.map(({ id }) => id));
}

const isNothing = (found: Collected): boolean =>
  found.unfinished === 0 && Object.values(counts(found)).every((count) => count === 0);

const checkName = ({ channel, id }: Person): string =>
  `Nothing is stored about ${channel}:${id}. Check the channel and the id: ` +
  `\`${programCommand} events list\` shows both.`;

function counts({ events, sessions, turns, sent, pairing, rows, reactions, files }: Collected) {
  return {
    events: events.filter(({ state }) => state === "settled").length,
    conversations: sessions.length,
    messagesInOthers: turns.length,
    sent: sent.length,
    pairings: pairing.length,
    rows: rows.length,
    reactions: reactions.flatMap((session) => session.events).length,
    files: files.length,
  };
}

function summary(found: Collected): string {
  const { events, conversations, messagesInOthers, sent, pairings, rows, reactions, files } = counts(found);
  const some = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  return [
    some(events, "event with its body", "events with their bodies"),
    some(conversations, "conversation", "conversations"),
    some(messagesInOthers, "message in others", "messages in others"),
    some(sent, "message to them", "messages to them"),
    some(files, "file", "files"),
    some(pairings, "pairing", "pairings"),
    some(rows, "record of tools, plugins and devices", "records of tools, plugins and devices"),
    ...(reactions === 0 ? [] : [some(reactions, "reaction that waits for a turn", "reactions that wait for a turn")]),
  ].join(", ");
}
