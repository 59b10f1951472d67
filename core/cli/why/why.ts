/** `why`: explains one event by its chain of decisions. */
import { HostError } from "../../contract/errors.ts";
import { findByPrefix } from "../../reports/find-event.ts";
import { parsePlatformId, renderPlatformId } from "../../reports/platform-id.ts";
import { printStory, readStory, storyData } from "../../reports/story.ts";
import type { EventReport, PlatformId } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { readLastRepetition, readRepeated } from "../../webhooks/endpoint/repetitions.ts";
import type { CommandContext } from "../context.ts";
import { failedSince, printFailedAccount } from "./failed-account.ts";
import { printRefusedHook, refusedSince } from "./refused-hook.ts";
import { printRepetition } from "./repetition.ts";

/** How many of the gateway's own events may be newer than the last one from outside. */
const lastSearch = 50;

/**
 * Events that follow from another one: the summary of a hook's run, the notice of an approval. A user who asks for the
 * last event does not mean these.
 */
const isOwn = ({ source, kind }: EventReport): boolean => source === "operator" || kind === "summary";

interface Options {
  readonly chat?: string;
  readonly json?: boolean;
}

export async function explainEvent(
  context: CommandContext,
  [wanted]: readonly [string | undefined],
  options: Options,
): Promise<number> {
  const chat = options.chat === undefined ? undefined : parsePlatformId("--chat", options.chat);
  if (chat !== undefined && wanted !== undefined && wanted !== "last") {
    throw new HostError("usage", { reason: "Pass either an event or --chat, not both" });
  }
  const store = await context.openState();
  try {
    const found = await findEvent(store, wanted ?? "last", chat);
    const last = wanted === undefined || wanted === "last";
    const asked = chat === undefined ? undefined : { channel: chat.channel ?? found?.source };
    if (last && (await explainNewer(store, found?.acceptedAt ?? 0, { context, options, asked }))) return 0;
    if (found === null) throw noEvent(wanted ?? "last", chat);
    const story = await readStory(store, found);
    if (options.json === true) context.terminal.json(storyData(story));
    else printStory(story, context.terminal, context.now());
    return 0;
  } finally {
    await store.close();
  }
}

function noEvent(wanted: string, chat: PlatformId | undefined): HostError {
  if (chat !== undefined) return new HostError("chat_without_events", { chat: renderPlatformId(chat) });
  return wanted === "last" ? new HostError("event_none") : new HostError("event_unknown", { event: wanted });
}

/**
 * Something newer than the newest event that led to no event: a refused or repeated webhook, or an account that is
 * down. Refused webhooks are left out when a chat is asked for, because they have no chat yet.
 */
async function explainNewer(
  store: Store,
  since: number,
  {
    context: { terminal, now },
    options: { json },
    asked,
  }: {
    readonly context: CommandContext;
    readonly options: Options;
    /** The channel of the chat that was asked for, if known. */
    readonly asked: { readonly channel: string | undefined } | undefined;
  },
): Promise<boolean> {
  const [refused, account, repetition] = await Promise.all([
    asked === undefined ? refusedSince(store, since) : null,
    failedSince(store, since, asked?.channel),
    asked === undefined ? readLastRepetition(store) : undefined,
  ]);
  if (repetition !== undefined && repetition.at > Math.max(since, refused?.at ?? 0, account?.since ?? 0)) {
    const { eventId, at } = repetition;
    const repeated = (await readRepeated(store, eventId)) ?? { count: 1, at };
    if (json === true) terminal.json({ repeated: { event: eventId, ...repeated } });
    else printRepetition(eventId, repeated, { terminal, now: now() });
    return true;
  }
  if (account !== null && account.since > (refused?.at ?? 0)) {
    if (json === true) terminal.json({ account });
    else printFailedAccount(account, terminal, now());
    return true;
  }
  if (refused === null) return false;
  if (json === true) terminal.json({ refused });
  else printRefusedHook(refused, terminal, now());
  return true;
}

async function findEvent(store: Store, wanted: string, chat: PlatformId | undefined): Promise<EventReport | null> {
  if (wanted !== "last") return findByPrefix(store, wanted, { includeInternal: true });
  const newest = await store.events({ limit: lastSearch, chat });
  return newest.find((event) => !isOwn(event)) ?? newest[0] ?? null;
}
