/** Prints how an event ended, and the chain of decisions about it. */

import type { Decision } from "../contract/types.ts";
import { visibleLine } from "../log/visible.ts";
import type { EventReport } from "../state/report.ts";
import { isForNextTurn } from "./for-next-turn.ts";
import type { Style, TextPage } from "./text-page.ts";
import { renderDuration } from "./times.ts";

const marks: Readonly<Record<Decision["verdict"], { readonly mark: string; readonly style: Style }>> = {
  pass: { mark: "✓", style: "green" },
  done: { mark: "✓", style: "green" },
  silent: { mark: "·", style: "yellow" },
  retry: { mark: "↻", style: "yellow" },
  refused: { mark: "✗", style: "red" },
  failed: { mark: "✗", style: "red" },
};

export const outcomeStyles = { answered: "green", silent: "yellow", refused: "red", failed: "red" } as const;

/** Renders the headline: `refused (sender_not_allowed) after 12 ms`. */
export function renderHeadline(report: EventReport, now: number, style: TextPage["style"]): string {
  const { outcome, reason, state } = report;
  if (outcome === undefined) return style("cyan", state);
  const why = reason === outcome ? "" : style("dim", ` (${reason})`);
  return (
    `${style(outcomeStyles[outcome], outcome)}${why} after ` +
    `${renderDuration((report.settledAt ?? now) - report.acceptedAt)}`
  );
}

export function printDecisions(report: EventReport, page: TextPage): void {
  const { style } = page;
  if (report.decisions.length === 0) {
    page.line(`  ${withoutDecision(report)}`);
    return;
  }
  const times = report.decisions.map((decision) => `+${renderDuration(decision.at - report.acceptedAt)}`);
  const width = Math.max(...times.map((time) => time.length));
  const indent = " ".repeat(width + 18);
  report.decisions.forEach((decision, index) => {
    const { mark, style: colour } = marks[decision.verdict];
    const by = decision.plugin === "core" ? "" : style("dim", ` by ${decision.plugin}`);
    const time = style("dim", (times[index] ?? "").padStart(width));
    page.line(`  ${style(colour, mark)} ${time}  ${decision.station.padEnd(11)} ${style(colour, decision.code)}${by}`);
    for (const line of detailsOf(decision, style)) page.line(`${indent}${line}`);
  });
  if (isForNextTurn(report)) page.line(`  ${nextTurn(report)}`);
}

const nextTurn = ({ lane }: EventReport): string =>
  `It waits for the next turn of ${visibleLine(lane)}, which a heartbeat or a person's message starts.`;

function withoutDecision(report: EventReport): string {
  if (report.state === "settled") return "No station decided anything.";
  return isForNextTurn(report) ? nextTurn(report) : "No station has decided anything yet.";
}

function detailsOf({ detail, path, hint }: Decision, style: TextPage["style"]): readonly string[] {
  return [
    ...(detail === undefined || detail === "" ? [] : [visibleLine(detail, 1_000)]),
    ...(path === undefined || path === "" ? [] : [`${style("dim", "decided by")} ${path}`]),
    ...(hint === undefined || hint === "" ? [] : [`${style("dim", "to change")}  ${hint}`]),
  ];
}
