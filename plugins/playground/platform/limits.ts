/** The platform's send limits; off unless configured. */
import { tooMany } from "./errors.ts";

export interface Limits {
  /** Messages per second in one chat. */
  readonly perChatPerSecond?: number;
  /** Messages per minute in one group. */
  readonly perGroupPerMinute?: number;
  /** Messages per second in all chats of a bot. */
  readonly perBotPerSecond?: number;
}

export interface Limiter {
  /** Counts one message. Throws 429 with the seconds to wait. */
  spend(botId: number, chatKey: string, group: boolean): void;
}

const maxWindows = 10_000;

export function createLimiter(limits: Limits, now: () => number): Limiter {
  const windows = new Map<string, number[]>();

  function check(key: string, most: number | undefined, ms: number, at: number): number {
    if (most === undefined) return 0;
    const times = (windows.get(key) ?? []).filter((time) => time > at - ms);
    windows.delete(key);
    windows.set(key, times);
    if (windows.size > maxWindows) windows.delete(windows.keys().next().value as string);
    return times.length < most ? 0 : Math.max(1, Math.ceil(((times[0] as number) + ms - at) / 1000));
  }

  return {
    spend(botId, chatKey, group) {
      const at = now();
      const rules = [
        { key: `bot:${botId}`, most: limits.perBotPerSecond, ms: 1000 },
        { key: `chat:${botId}:${chatKey}`, most: limits.perChatPerSecond, ms: 1000 },
        { key: `group:${botId}:${chatKey}`, most: group ? limits.perGroupPerMinute : undefined, ms: 60_000 },
      ].filter((rule) => rule.most !== undefined);
      if (rules.length === 0) return;
      const wait = Math.max(...rules.map((rule) => check(rule.key, rule.most, rule.ms, at)));
      if (wait > 0) throw tooMany(wait);
      for (const rule of rules) windows.get(rule.key)?.push(at);
    },
  };
}
