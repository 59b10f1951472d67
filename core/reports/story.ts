/** What happened to one event, and why: for `why` and for the console. */
import { renderClock } from "../log/log-line.ts";
import { visibleLine } from "../log/visible.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import { type Repeated, readRepeated } from "../webhooks/endpoint/repetitions.ts";
import { describeAccess, isDelivery, readStoredHook } from "../webhooks/mapping/stored-hook.ts";
import { printDecisions, renderHeadline } from "./decisions.ts";
import { explained } from "./explained.ts";
import { withUnit } from "./find-event.ts";
import type { TextPage } from "./text-page.ts";
import { renderAgo } from "./times.ts";

export interface Story {
  readonly report: EventReport;
  /** The mapping of a delivery, and what authorized the delivery. */
  readonly hook: { readonly mapping: string; readonly access: string | undefined } | undefined;
  readonly repeated: Repeated | undefined;
}

export async function readStory(store: Store, found: EventReport): Promise<Story> {
  const report = await explained(store, await withUnit(store, found));
  const stored = isDelivery(report) ? readStoredHook(await store.body(report.id), report.kind) : undefined;
  return {
    report,
    hook: stored === undefined ? undefined : { mapping: stored.hook, access: describeAccess(stored) },
    repeated: await readRepeated(store, report.id),
  };
}

export const storyData = ({ report, hook, repeated }: Story) => ({
  ...report,
  ...(hook?.access === undefined ? {} : { hook }),
  ...(repeated === undefined ? {} : { repeated }),
});

/** How often a delivery was repeated; `undefined` if never. */
export function renderRepeated(repeated: Repeated | undefined, now: number): string | undefined {
  if (repeated === undefined) return undefined;
  const times = repeated.count === 1 ? "once" : `${repeated.count} times`;
  return (
    `came ${times}, last ${renderClock(repeated.at)} (${renderAgo(repeated.at, now)}); it got the ` +
    "first response and did not run again"
  );
}

export function printStory({ report, hook, repeated }: Story, page: TextPage, now: number): void {
  const { style } = page;
  page.line(renderHeadline(report, now, style));
  page.line();
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
    ["again", renderRepeated(repeated, now)],
    [
      "together",
      report.unitId === undefined || report.unitId === report.id ? undefined : `handled with ${report.unitId}`,
    ],
  ];
  page.table(
    facts.flatMap(([name, value]) => (value === undefined ? [] : [[style("dim", name), value]])),
    { indent: "  " },
  );
  page.line();
  printDecisions(report, page);
}
