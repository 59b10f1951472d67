/** Active hours of an agent. */

function minuteOfDay(clock: string): number {
  const [hours = "0", minutes = "0"] = clock.split(":");
  return Number(hours) * 60 + Number(minutes);
}

/**
 * The minute of the day at `at` in a time zone; without one, in the host's zone. Throws `RangeError` for an unknown
 * zone.
 */
function localMinute(at: number, timezone: string | undefined): number {
  const format = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: timezone,
  });
  return minuteOfDay(format.format(at));
}

/**
 * Whether `at` is within the active hours. `start` is inclusive, `end` exclusive. `end` may be past midnight. Equal
 * times mean the whole day.
 */
export function isActive(
  at: number,
  hours: { readonly start?: string; readonly end?: string; readonly timezone?: string } | undefined,
): boolean {
  if (hours === undefined) return true;
  const start = minuteOfDay(hours.start ?? "00:00");
  const end = minuteOfDay(hours.end ?? "24:00");
  const minute = localMinute(at, hours.timezone);
  if (start === end) return true;
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}
