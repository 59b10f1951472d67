/** Calendar days and months in a time zone, as periods of budgets. */

export type Period = "day" | "month";

export interface Span {
  /** Epoch milliseconds of its first instant. */
  readonly start: number;
  /** Epoch milliseconds of the first instant of the next one. */
  readonly end: number;
}

const minuteMs = 60_000;
/** No zone is further from UTC, and none shifts its clocks by more than the rest. */
const reachMs = 30 * 60 * minuteMs;

/** The date at an instant as a number that grows, such as 20261122. */
type DateAt = (at: number) => number;

function dateIn(timezone: string | undefined): DateAt {
  const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    timeZone: timezone,
  });
  return (at) => {
    const fields = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    return Number(fields.year) * 10_000 + Number(fields.month) * 100 + Number(fields.day);
  };
}

/** The first minute of a date. Where clocks are put forward at midnight, that is not midnight. */
function firstInstant(year: number, month: number, day: number, dateAt: DateAt): number {
  const midnight = Date.UTC(year, month - 1, day);
  const wanted = new Date(midnight);
  const date = wanted.getUTCFullYear() * 10_000 + (wanted.getUTCMonth() + 1) * 100 + wanted.getUTCDate();
  let before = (midnight - reachMs) / minuteMs;
  let from = (midnight + reachMs) / minuteMs;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dateAt(middle * minuteMs) >= date) from = middle;
    else before = middle;
  }
  return from * minuteMs;
}

/** Remembers the current period of each zone, because a search takes about a tenth of a millisecond. */
export function createPeriods(): (period: Period, at: number, timezone: string | undefined) => Span {
  const known = new Map<string, Span>();
  return (period, at, timezone) => {
    const key = `${period} ${timezone ?? ""}`;
    const last = known.get(key);
    if (last !== undefined && at >= last.start && at < last.end) return last;
    const dateAt = dateIn(timezone);
    const date = dateAt(at);
    const [year, month, day] = [Math.floor(date / 10_000), Math.floor(date / 100) % 100, date % 100];
    const span =
      period === "day"
        ? { start: firstInstant(year, month, day, dateAt), end: firstInstant(year, month, day + 1, dateAt) }
        : { start: firstInstant(year, month, 1, dateAt), end: firstInstant(year, month + 1, 1, dateAt) };
    known.set(key, span);
    return span;
  };
}
