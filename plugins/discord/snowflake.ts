/**
 * Ids of the platform, which contain the time at which they were given: 42 bits of milliseconds since 2015, then 22
 * bits of counters. See https://discord.com/developers/docs/reference#snowflakes.
 */
const epochMs = 1_420_070_400_000;

export const snowflakePattern = "[1-9]\\d{4,19}";

const whole = new RegExp(`^${snowflakePattern}$`);

export const isSnowflake = (value: string): boolean => whole.test(value);

/** The least id of a time, in epoch milliseconds. */
export const snowflakeAt = (ms: number): string => String(BigInt(Math.max(0, Math.floor(ms) - epochMs)) << 22n);

/** When an id was given, in epoch milliseconds. */
export const timeOf = (snowflake: string): number => Number(BigInt(snowflake) >> 22n) + epochMs;

/** Negative if `one` is older than `other`. */
export function compareSnowflakes(one: string, other: string): number {
  const difference = BigInt(one) - BigInt(other);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
