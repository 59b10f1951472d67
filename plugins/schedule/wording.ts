/** Times, durations and time zones as people read and write them. */

const weekday = {
  weekday: "short",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
} as const;

/** Formats a time as `Fri 2026-11-27 09:00 Europe/Berlin (UTC+1)`. */
export function sayTime(at: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    ...weekday,
    hourCycle: "h23",
    timeZone: timezone,
    timeZoneName: "shortOffset",
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? "";
  const offset = part("timeZoneName").replace("GMT", "UTC").replace(/\+0$/, "");
  const zone = timezone === offset ? timezone : `${timezone} (${offset})`;
  return `${part("weekday")} ${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")} ${zone}`;
}

/** Formats a time span by its largest unit: `3 days`, `2 hours`, `1 minute`. */
export function sayDuration(ms: number): string {
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
  ] as const;
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ["minute", 60_000];
  const count = Math.max(1, Math.floor(ms / size));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
