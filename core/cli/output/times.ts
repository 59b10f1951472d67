/** Times in words. */
import { HostError } from "../../contract/errors.ts";
import { sinceForms } from "../declare.ts";

export { renderClock } from "../../log/log-line.ts";
export { renderAgo, renderDuration } from "../../reports/times.ts";

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

const units: Readonly<Record<string, number>> = {
  s: second,
  m: minute,
  min: minute,
  h: 60 * minute,
  d: day,
  w: 7 * day,
};
const dated = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** JavaScript would read February 31 as a day in March. */
function isDay(text: string): boolean {
  const [year, month, date] = text.slice(0, 10).split("-").map(Number);
  return dated.test(text) && new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, date)).getUTCDate() === date;
}

/** Parses a distance back from now, a day or a time; local time unless the text says otherwise. Throws `usage`. */
export function parseSince(text: string, now: number): number {
  const wanted = text.trim().toLowerCase();
  const [, amount, unit = ""] = /^(\d{1,6}) ?([a-z]+)$/.exec(wanted) ?? [];
  const size = units[unit];
  if (amount !== undefined && size !== undefined) return now - Number(amount) * size;
  if (wanted === "today" || wanted === "yesterday") {
    const midnight = new Date(now);
    midnight.setHours(0, 0, 0, 0);
    // Uses the calendar, because a day may have 23 hours.
    if (wanted === "yesterday") midnight.setDate(midnight.getDate() - 1);
    return midnight.getTime();
  }
  // JavaScript would read a date alone as UTC.
  const at = isDay(text.trim())
    ? Date.parse(text.trim().length === 10 ? `${text.trim()}T00:00` : text.trim().replace(" ", "T"))
    : Number.NaN;
  if (Number.isNaN(at))
    throw new HostError("usage", { reason: `--since: "${text}" is not a time: write ${sinceForms}` });
  return at;
}
