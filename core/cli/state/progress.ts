/** The progress of a copy, as lines for a person. */
import type { CopyProgress } from "../../stores/copy.ts";
import type { CommandContext } from "../context.ts";
import { renderDuration } from "../output/times.ts";

const everyMs = 1_000;
/** Lines become rarer, so that a copy of an hour does not print thousands. */
const everyPart = 0.1;

/** Prints a line each second at first, later less often, and nothing if no person can see it. */
export function progressLines(
  { terminal, now }: Pick<CommandContext, "terminal" | "now">,
  isVisible: boolean,
): (progress: CopyProgress) => void {
  if (!isVisible) return () => {};
  const begunAt = now();
  let shownAt = begunAt;
  const phases = new Map<CopyProgress["phase"], { readonly at: number; readonly rows: number }>();
  return ({ phase, kind, rows, total }) => {
    const at = now();
    const begun = phases.get(phase) ?? { at, rows };
    phases.set(phase, begun);
    if (at - shownAt < Math.max(everyMs, (at - begunAt) * everyPart)) return;
    shownAt = at;
    terminal.note(progressLine({ phase, kind, rows, total }, { rows: rows - begun.rows, ms: at - begun.at }));
  };
}

function progressLine(
  { phase, kind, rows, total }: CopyProgress,
  done: { readonly rows: number; readonly ms: number },
): string {
  const perSecond = done.ms > 0 ? (done.rows * 1_000) / done.ms : 0;
  const left = perSecond > 0 ? `, ${renderDuration(((total - rows) / perSecond) * 1_000)} left` : "";
  return (
    `${phase === "copy" ? "copying" : "comparing"} ${kind}: ${rows} of ${total} rows, ` +
    `${Math.round(perSecond)} rows/s${left}`
  );
}
