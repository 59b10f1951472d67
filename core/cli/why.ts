/** `why`: the chain of decisions about one event, as a story. */
import { HostError } from "../errors.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import type { CommandContext } from "./context.ts";
import { renderHeadline, tellDecisions } from "./decisions.ts";
import { findByPrefix, withUnit } from "./events.ts";
import { failedSince, tellFailedAccount } from "./failed-account.ts";
import { refusedSince, tellRefusedHook } from "./refused-hook.ts";
import type { Terminal } from "./terminal.ts";
import { renderAgo, renderClock } from "./times.ts";

/** How many events of the gateway's own may lie above the one that somebody sent. */
const lastSearch = 50;

/** Followed from another event: the summary of a hook's run, the notice of an approval. Nobody who asks for the last means them. */
const isOwn = ({ source, kind }: EventReport): boolean => source === "operator" || kind === "summary";

export async function tellWhy(
  context: CommandContext,
  [wanted = "last"]: readonly [string | undefined],
  options: { readonly json?: boolean },
): Promise<number> {
  const store = await context.openState();
  try {
    const found = await findEvent(store, wanted);
    if (wanted === "last" && (await toldNewer(store, found?.acceptedAt ?? 0, context, options))) return 0;
    const report = found === null ? null : await withUnit(store, found);
    if (report === null) throw wanted === "last" ? new HostError("event_none") : new HostError("event_unknown", { event: wanted });
    if (options.json === true) context.terminal.json(report);
    else tell(report, context.terminal, context.now());
    return 0;
  } finally {
    await store.close();
  }
}

/** What kept something from becoming an event, when it is newer than the newest event: a refused webhook, an account that is down. */
async function toldNewer(
  store: Store,
  since: number,
  { terminal, now }: CommandContext,
  { json }: { readonly json?: boolean },
): Promise<boolean> {
  const [refused, account] = await Promise.all([refusedSince(store, since), failedSince(store, since)]);
  if (account !== null && account.since > (refused?.at ?? 0)) {
    if (json === true) terminal.json({ account });
    else tellFailedAccount(account, terminal, now());
    return true;
  }
  if (refused === null) return false;
  if (json === true) terminal.json({ refused });
  else tellRefusedHook(refused, terminal, now());
  return true;
}

async function findEvent(store: Store, wanted: string): Promise<EventReport | null> {
  if (wanted !== "last") return findByPrefix(store, wanted, { includeInternal: true });
  const newest = await store.events({ limit: lastSearch });
  return newest.find((event) => !isOwn(event)) ?? newest[0] ?? null;
}

function tell(report: EventReport, terminal: Terminal, now: number): void {
  const { style } = terminal;
  terminal.line(renderHeadline(report, now, style));
  terminal.line();
  const facts: (readonly [string, string | undefined])[] = [
    ["event", report.id],
    ["from", [report.source, report.kind, report.account].filter(Boolean).join(", ")],
    ["when", `${renderClock(report.acceptedAt)} (${renderAgo(report.acceptedAt, now)})`],
    ["lane", report.lane],
    ["agent", report.agentId],
    ["session", report.sessionKey === report.lane ? undefined : report.sessionKey],
    ["attempts", report.attempts > 1 ? String(report.attempts) : undefined],
    ["together", report.unitId === undefined || report.unitId === report.id ? undefined : `handled with ${report.unitId}`],
  ];
  terminal.table(
    facts.flatMap(([name, value]) => (value === undefined ? [] : [[style("dim", name), value]])),
    { indent: "  " },
  );
  terminal.line();
  tellDecisions(report, terminal);
}
