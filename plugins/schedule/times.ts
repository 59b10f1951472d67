/** Computes when a plan runs. The only importer of croner, which is loaded when the first plan needs it. */
import { Cron } from "croner";
import type { Plan, Times } from "./plan.ts";
import { isTimeZone } from "./wording.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30m`, `2h` or `1d` in milliseconds; `undefined` for anything else. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ""] = /^\s*([1-9]\d{0,5})\s*([mhd])\s*$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}

// With five fields only, nothing runs more often than each minute.
const cronOf = (cron: string, timezone: string): Cron => new Cron(cron, { timezone, paused: true, mode: "5-part" });

const dated = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/;

/**
 * A time with a zone, or in `timezone` without one. A time that the clocks skip becomes the one an hour later.
 * `undefined`: no such time.
 */
export function instantOf(at: string, timezone: string): number | undefined {
  const [, day, minute, second = ":00", zone] = dated.exec(at.trim()) ?? [];
  if (day === undefined || minute === undefined) return undefined;
  const exists =
    !Number.isNaN(Date.parse(`${day}T${minute}${second}Z`)) && new Date(`${day}T00:00Z`).toISOString().startsWith(day);
  if (!exists) return undefined;
  if (zone !== undefined) return Date.parse(`${day}T${minute}${second}${zone}`);
  return new Cron(`${day}T${minute}${second}`, { timezone, paused: true }).nextRun(new Date(0))?.getTime();
}

type When = Pick<Plan, "times" | "timezone">;

/** The first planned time after `after`; `null` if there is none. `anchor`: start of the intervals of `every`. */
export function nextAfter({ times, timezone }: When, after: number, anchor: number): number | null {
  if ("cron" in times) return cronOf(times.cron, timezone).nextRun(new Date(after))?.getTime() ?? null;
  if ("at" in times) {
    const at = instantOf(times.at, timezone);
    return at !== undefined && at > after ? at : null;
  }
  const every = durationMs(times.every);
  if (every === undefined) return null;
  return after < anchor ? anchor + every : anchor + (Math.floor((after - anchor) / every) + 1) * every;
}

export function nextTimes(
  when: When,
  { after, anchor, count }: { readonly after: number; readonly anchor: number; readonly count: number },
): readonly number[] {
  const found: number[] = [];
  for (
    let next = nextAfter(when, after, anchor);
    next !== null && found.length < count;
    next = nextAfter(when, next, anchor)
  )
    found.push(next);
  return found;
}

/** The newest planned time from `due` to `now`. */
export function newestUpTo({ times, timezone }: When, due: number, now: number): number {
  if ("at" in times) return due;
  if ("every" in times) {
    const every = durationMs(times.every) ?? 1;
    return due + Math.floor((now - due) / every) * every;
  }
  // `previousRuns` excludes its reference.
  const [newest] = cronOf(times.cron, timezone).previousRuns(1, new Date(now + 1_000));
  return Math.max(due, newest === undefined || newest.getTime() > now ? due : newest.getTime());
}

/** The shortest time between two of the next hundred runs, in milliseconds; infinite for a single run. */
export function shortestGapMs(when: When, after: number): number {
  const next = nextTimes(when, { after, anchor: after, count: 100 });
  return Math.min(Number.POSITIVE_INFINITY, ...next.slice(1).map((time, index) => time - (next[index] ?? 0)));
}

/** What is wrong with the times of a plan, with the key to change. */
export interface TimesProblem {
  readonly key: "cron" | "every" | "at" | "timezone";
  readonly message: string;
  readonly hint: string;
  /** Nothing is wrong but that the time has passed, as that of each single run will. */
  readonly isPast?: true;
}

export function timesProblem(times: Times, timezone: string, now: number): TimesProblem | undefined {
  if (!isTimeZone(timezone))
    return {
      key: "timezone",
      message: `is ${JSON.stringify(timezone)}, which is not a known time zone`,
      hint: "Write a name of the IANA database, such as Europe/Berlin or UTC.",
    };
  if ("every" in times) return everyProblem(times.every);
  if ("at" in times) return atProblem(times.at, timezone, now);
  return cronProblem(times.cron, timezone, now);
}

function everyProblem(every: string): TimesProblem | undefined {
  if (durationMs(every) !== undefined) return undefined;
  return {
    key: "every",
    message: `is ${JSON.stringify(every)}, but must be a time such as 30m, 2h or 1d`,
    hint: "The shortest is 1m.",
  };
}

function atProblem(at: string, timezone: string, now: number): TimesProblem | undefined {
  const instant = instantOf(at, timezone);
  const given = `is ${JSON.stringify(at)}`;
  if (instant === undefined)
    return {
      key: "at",
      message: `${given}, which is not a date and time`,
      hint: "Write it as 2027-03-01T09:00, or with a zone: 2027-03-01T09:00+01:00.",
    };
  if (instant > now) return undefined;
  const hint =
    `It is ${new Date(now).toISOString().slice(0, 16)}Z now. Set a later time, or remove the ` +
    "schedule if it has run.";
  return { key: "at", message: `${given} (${timezone}), which is in the past`, hint, isPast: true };
}

function cronProblem(cron: string, timezone: string, now: number): TimesProblem | undefined {
  const given = `is ${JSON.stringify(cron)}`;
  const fields = cron.trim().split(/\s+/).length;
  const hint =
    "Write minute, hour, day of month, month and day of week, such as 0 8 * * 1-5: at 8:00 from Monday to Friday.";
  if (fields !== 5 && !cron.startsWith("@"))
    return { key: "cron", message: `${given}, which does not have five fields`, hint };
  try {
    if (cronOf(cron, timezone).nextRun(new Date(now)) !== null) return undefined;
    return { key: "cron", message: `${given}, which names no time that ever comes`, hint };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error))
      .replace(/^CronPattern: /, "")
      .replace(/\.$/, "");
    return { key: "cron", message: `${given}, which is not a cron expression: ${reason}`, hint };
  }
}
