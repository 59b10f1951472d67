/** Distances of time in words. */

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** `12 ms`, `1.4 s`, `3 min`, `2 h 5 min`, `4 days`. Values are rounded first, so that no unit overflows (`60 s`). */
export function renderDuration(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9.95 * second) return `${(ms / second).toFixed(1)} s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(ms / minute);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
  const days = Math.round(ms / day);
  return `${days} ${days === 1 ? "day" : "days"}`;
}

/** `just now`, `3 min ago`, `in 57 min`. */
export function renderAgo(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 2 * second) return "just now";
  const whole = renderDuration(Math.round(Math.abs(distance) / second) * second).replace(/\.0 s$/, " s");
  return distance > 0 ? `${whole} ago` : `in ${whole}`;
}
