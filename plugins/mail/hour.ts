/**
 * The hour in which the mails of a mailbox are counted. It begins with its first mail, and a restart does not begin
 * another one.
 */

export type Hour = {
  /** Epoch milliseconds. */
  readonly begins: number;
  readonly mails: number;
};

const hourMs = 3_600_000;

/** Whether the hour has passed, or lies in the future because the clock was set back. */
const isOver = ({ begins }: Hour, now: number) => begins > now || begins + hourMs <= now;

export function withOneMore(hour: Hour | undefined, now: number): Hour {
  return hour === undefined || isOver(hour, now) ? { begins: now, mails: 1 } : { ...hour, mails: hour.mails + 1 };
}

/** Until when further mails wait, in epoch milliseconds; `undefined` while more may run. */
export function fullUntil(hour: Hour | undefined, maxPerHour: number, now: number): number | undefined {
  return hour === undefined || isOver(hour, now) || hour.mails < maxPerHour ? undefined : hour.begins + hourMs;
}
