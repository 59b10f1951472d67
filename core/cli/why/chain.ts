/** The decisions about an event on one line, for people who watch events as they end. */
import { visibleLine } from "../../log/visible.ts";
import { renderHeadline } from "../../reports/decisions.ts";
import type { EventReport } from "../../state/report.ts";
import type { Terminal } from "../output/terminal.ts";

/** `answered after 14 ms  irc update 0mwp4yhl93: ingress message > gating open > turn done by echo > delivery sent` */
export function renderChain(report: EventReport, now: number, style: Terminal["style"]): string {
  const steps = report.decisions.map(({ station, code, plugin, verdict, detail }) => {
    const by = plugin === "core" ? "" : ` by ${plugin}`;
    const bad = verdict === "refused" || verdict === "failed" || verdict === "retry";
    const why = bad && detail !== undefined && detail !== "" ? ` (${visibleLine(detail, 300)})` : "";
    return `${station} ${code}${by}${why}`;
  });
  const about = style("dim", `${report.source} ${report.kind} ${report.id}:`);
  return `${renderHeadline(report, now, style)}  ${about} ${steps.join(style("dim", " > ")) || "no decision"}`;
}
