/** How long to wait before a model is asked again: as long as its server says, or longer each time. */
import type { EngineError } from "service-gateway/sdk";

/** Longer waits, in milliseconds, are not worthwhile: the next model is tried, or the turn fails. */
const longestWaitMs = 20_000;

const numberIn = (text = ""): number | undefined => (/^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined);

/** The wait that the headers name: in milliseconds, in seconds, or until a date of the server's own clock. */
export function waitOf(headers: Readonly<Record<string, string>> = {}): number | undefined {
  const { "retry-after-ms": milliseconds, "retry-after": after, date } = headers;
  const seconds = numberIn(after);
  const wait = numberIn(milliseconds) ?? (seconds === undefined ? undefined : seconds * 1_000);
  if (wait !== undefined || after === undefined || date === undefined) return wait;
  const until = Date.parse(after) - Date.parse(date);
  return Number.isFinite(until) ? Math.max(0, until) : undefined;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const named = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)? ?(?:ms|milli|s|m|h))+)/i;

/** The wait that a message names, such as "Please try again in 2m6.2s"; `undefined` if it names none. */
export function waitIn(details: string): number | undefined {
  const [, wait] = named.exec(details) ?? [];
  const parts = [...(wait?.matchAll(/([\d.]+) ?([a-z]+)/gi) ?? [])];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, number, unit = ""]) => sum + Number(number) * (unitMs[unit.toLowerCase()] ?? 0), 0);
}

/** How long to wait before asking the same model again, in milliseconds; `undefined` if that is not worthwhile. */
export function retryDelay(
  { error, waitMs }: { readonly error: EngineError; readonly waitMs?: number },
  attempt: number,
  baseMs: number,
): number | undefined {
  if (!error.retryable || error.reason === "model_stalled") return undefined;
  const delay = waitMs ?? baseMs * 2 ** attempt;
  return delay > longestWaitMs ? undefined : delay;
}
