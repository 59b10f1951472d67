/** `why`: explains one event by its chain of decisions. */
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { EventReport, PlatformId } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { readLastRepetition, readRepeated } from "../../webhooks/endpoint/repetitions.ts";
import { describeAccess, isDelivery, readStoredHook } from "../../webhooks/mapping/stored-hook.ts";
import type { CommandContext } from "../context.ts";
import { findByPrefix, withUnit } from "../events.ts";
import type { Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";
import { parsePlatformId, renderPlatformId } from "../platform-id.ts";
import { printDecisions, renderHeadline } from "./decisions.ts";
import { explained } from "./explained.ts";
import { failedSince, printFailedAccount } from "./failed-account.ts";
import { printRefusedHook, refusedSince } from "./refused-hook.ts";
import { printRepetition, renderRepeated } from "./repetition.ts";

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
    const report = found === null ? null : await explained(store, await withUnit(store, found));
    if (report === null) throw noEvent(wanted ?? "last", chat);
    const repeated = await readRepeated(store, report.id);
    const stored = isDelivery(report) ? readStoredHook(await store.body(report.id), report.kind) : undefined;
    const hook = stored === undefined ? undefined : { mapping: stored.hook, access: describeAccess(stored) };
    const shown = {
      ...report,
      ...(hook?.access === undefined ? {} : { hook }),
      ...(repeated === undefined ? {} : { repeated }),
    };
    if (options.json === true) context.terminal.json(shown);
    else
      printStory(report, context.terminal, {
        now: context.now(),
        again: renderRepeated(repeated, context.now()),
        hook,
      });
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

interface Beside {
  readonly now: number;
  readonly again: string | undefined;
  /** The mapping of a delivery, and what authorized the delivery. */
  readonly hook: { readonly mapping: string; readonly access: string | undefined } | undefined;
}

function printStory(report: EventReport, terminal: Terminal, { now, again, hook }: Beside): void {
  const { style } = terminal;
  terminal.line(renderHeadline(report, now, style));
  terminal.line();
  const facts: (readonly [string, string | undefined])[] = [
    ["event", report.id],
    ["from", [report.source, report.kind, report.account].filter(Boolean).join(", ")],
    ["mapping", hook?.access === undefined ? undefined : visibleLine(hook.mapping)],
    ["let in by", hook?.access],
    ["when", `${renderClock(report.acceptedAt)} (${renderAgo(report.acceptedAt, now)})`],
    // A tab separates the name of a lane from the kind of work in it.
    ["lane", report.lane.replaceAll("\t", " ")],
    ["agent", report.agentId],
    ["session", report.sessionKey === report.lane ? undefined : report.sessionKey],
    ["attempts", report.attempts > 1 ? String(report.attempts) : undefined],
    ["again", again],
    [
      "together",
      report.unitId === undefined || report.unitId === report.id ? undefined : `handled with ${report.unitId}`,
    ],
  ];
  terminal.table(
    facts.flatMap(([name, value]) => (value === undefined ? [] : [[style("dim", name), value]])),
    { indent: "  " },
  );
  terminal.line();
  printDecisions(report, terminal);
}
