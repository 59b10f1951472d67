/** Parses durations of the configuration. */

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts `30m`, `2h` and the like to milliseconds; 0 for `0`; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  if (text.trim() === "0") return 0;
  const [, count, unit] = /^\s*(\d+)\s*([smhd])\s*$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}
