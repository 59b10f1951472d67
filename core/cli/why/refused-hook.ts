/** Hook requests that were refused before they became events, for `why`. */
import { describeProblem } from "../../http/problem.ts";
import { visibleLine } from "../../log/visible.ts";
import type { Store } from "../../state/store.ts";
import { newestRefusal, type RefusedHook } from "../../webhooks/endpoint/refusals.ts";
import type { Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";

/** The newest refused request after `since` (epoch milliseconds). */
export async function refusedSince(store: Store, since: number): Promise<RefusedHook | null> {
  const newest = await newestRefusal(store);
  return newest !== undefined && newest.at > since ? newest : null;
}

export function printRefusedHook(refused: RefusedHook, terminal: Terminal, now: number): void {
  const { style } = terminal;
  const { path, hint } = { ...describeProblem(refused.code), ...refused };
  terminal.line(`${style("red", "refused")} ${style("dim", `(${refused.code})`)} with ${refused.status}`);
  terminal.line();
  terminal.table(
    [
      ["request", `hook ${refused.subPath === "" ? "(no name)" : visibleLine(refused.subPath)}`],
      ["from", refused.client],
      ["when", `${renderClock(refused.at)} (${renderAgo(refused.at, now)})`],
    ].map(([name = "", text = ""]) => [style("dim", name), text]),
    { indent: "  " },
  );
  terminal.line();
  terminal.line(`  ${style("red", "✗")} accept  ${visibleLine(refused.detail, 1_000)}`);
  if (path !== undefined) terminal.line(`            ${style("dim", "decided by")} ${path}`);
  terminal.line(`            ${style("dim", "to change")}  ${hint}`);
}
