/** `events list`: what was received, from whom, how it ended, and what is still waiting. */
import { HostError } from "../../contract/errors.ts";
import type { Outcome } from "../../contract/types.ts";
import { visibleLine } from "../../log/visible.ts";
import { outcomeStyles } from "../../reports/decisions.ts";
import { eventData, fromOf, placeOf, readEvents } from "../../reports/events.ts";
import { parsePlatformId } from "../../reports/platform-id.ts";
import type { EventFilter, EventReport } from "../../state/report.ts";
import type { CommandContext } from "../context.ts";
import { parseSince, renderClock, renderDuration } from "../output/times.ts";
import { followEvents, startNow } from "./follow.ts";

export interface Options {
  readonly chat?: string;
  readonly sender?: string;
  readonly outcome?: Outcome | "waiting";
  readonly since?: string;
  readonly limit: number;
  readonly all?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const mostAtOnce = 1_000;

export async function listEvents(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  const filter = filterOf(options, context.now());
  const store = await context.openState();
  try {
    const start = options.follow === true ? await startNow(store) : undefined;
    const reports = await readEvents(store, filter);
    if (start !== undefined) {
      // Past events are listed in the order in which new ones follow. An event is shown once it has ended.
      const ended = reports.filter(({ state }) => state === "settled").toReversed();
      for (const report of ended) print(report, context, options);
      const shown = new Set(ended.map(({ id }) => id));
      const onAway = (reason: string) => context.terminal.note(`${reason}. The list goes on when it is back.`);
      await followEvents(store, { filter, shown, start, onAway }, (report) => print(report, context, options));
    } else if (options.json === true) context.terminal.json({ events: reports.map(eventData) });
    else show(reports, context, options);
    return 0;
  } finally {
    await store.close();
  }
}

function filterOf({ chat, sender, outcome, since, limit, all, follow }: Options, now: number): EventFilter {
  if (limit < 1 || limit > mostAtOnce)
    throw new HostError("usage", { reason: `--limit must be from 1 to ${mostAtOnce}` });
  const waiting = outcome === "waiting";
  if (waiting && follow === true)
    throw new HostError("usage", { reason: "--follow shows events as they end: leave out --outcome waiting" });
  return {
    limit,
    ...(outcome === undefined || waiting ? {} : { outcome }),
    // Events that wait for a heartbeat are the gateway's own.
    ...(waiting ? { open: true as const, oldestFirst: true as const, includeInternal: true } : {}),
    ...(all === true ? { includeInternal: true } : {}),
    ...(chat === undefined ? {} : { chat: parsePlatformId("--chat", chat) }),
    ...(sender === undefined ? {} : { sender: parsePlatformId("--sender", sender) }),
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
  };
}

function show(reports: readonly EventReport[], { terminal, now }: CommandContext, { outcome }: Options): void {
  const { style } = terminal;
  if (reports.length === 0) {
    terminal.line(outcome === "waiting" ? "Nothing waits." : "There is no such event.");
    return;
  }
  terminal.table([
    ["when", "event", "from", "chat", "end", "took"].map((cell) => style("dim", cell)),
    ...reports.map((report) => cells(report, now(), style)),
  ]);
}

function print(report: EventReport, { terminal, now }: CommandContext, { json }: Options): void {
  if (json === true) terminal.json(eventData(report), { lines: true });
  else terminal.table([cells(report, now(), terminal.style)]);
}

function cells(report: EventReport, now: number, style: CommandContext["terminal"]["style"]): readonly string[] {
  const { id, acceptedAt, settledAt } = report;
  const { chat, thread } = placeOf(report);
  const place = chat === undefined ? "" : thread === undefined ? chat : `${chat} topic ${thread}`;
  const took =
    settledAt === undefined ? `for ${renderDuration(now - acceptedAt)}` : renderDuration(settledAt - acceptedAt);
  return [
    renderClock(acceptedAt),
    id,
    visibleLine(fromOf(report), 60),
    visibleLine(place, 40),
    endOf(report, style),
    took,
  ];
}

function endOf({ state, outcome, reason }: EventReport, style: CommandContext["terminal"]["style"]): string {
  if (outcome === undefined) return style("cyan", state);
  return style(outcomeStyles[outcome], outcome) + (reason === outcome ? "" : style("dim", ` (${reason})`));
}
