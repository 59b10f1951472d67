/** Decides what becomes of a plan that is due: a run, a late run, a notice, or only a trace. */
import type { Run } from "./event.ts";
import { type Plan, titleOf } from "./plan.ts";
import { newestUpTo, nextAfter } from "./times.ts";
import { sayDuration, sayTime } from "./wording.ts";

/** A run that begins this late was missed: the gateway was not running, or the machine slept. */
const onTimeMs = 120_000;

export interface Verdict {
  readonly run: Run;
  /** The next planned time. */
  readonly next: number | null;
  /** A text for the owner, who would not notice otherwise. */
  readonly tellOwner?: string;
}

export function judge(
  plan: Plan,
  {
    due,
    now,
    anchor,
    isRunning,
  }: { readonly due: number; readonly now: number; readonly anchor: number; readonly isRunning: boolean },
): Verdict {
  const planned = newestUpTo(plan, due, now);
  const next = nextAfter(plan, Math.max(planned, now), anchor);
  if (isRunning) {
    const detail = `The run before had not ended at ${sayTime(planned, plan.timezone)}.`;
    return { run: { planned, skipped: { code: "schedule_still_running", detail } }, next };
  }
  if (now - due <= onTimeMs || now - planned <= onTimeMs) return { run: { planned }, next };
  return { ...missed(plan, { planned, next, lateMs: now - planned }), next };
}

function missed(
  plan: Plan,
  { planned, next, lateMs }: { readonly planned: number; readonly next: number | null; readonly lateMs: number },
): Omit<Verdict, "next"> {
  const when = sayTime(planned, plan.timezone);
  const { ifMissed, graceMs = Number.POSITIVE_INFINITY, timezone, to } = plan;
  const wasDue = `The ${titleOf(plan)} was due at ${when}, but the gateway was not running.`;
  const further = next === null ? "It will not run again." : `Its next run is at ${sayTime(next, timezone)}.`;
  const skipped = (detail: string): Run => ({ planned, skipped: { code: "schedule_missed", detail } });
  if (ifMissed === "run-once" && lateMs <= graceMs) return { run: { planned, lateMs } };
  if (ifMissed === "tell") {
    const notice = `${wasDue} ${further}`;
    return to === undefined ? { run: skipped(wasDue), tellOwner: notice } : { run: { planned, notice } };
  }
  const detail =
    ifMissed === "skip"
      ? wasDue
      : `${wasDue} It would begin ${sayDuration(lateMs)} late, and graceMinutes is ${graceMs / 60_000}.`;
  // Without a notice, the loss of the only run of a plan could go unnoticed.
  return {
    run: skipped(detail),
    ...(next === null && ifMissed === "run-once" && { tellOwner: `${wasDue} ${further}` }),
  };
}
