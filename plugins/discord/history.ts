/** Reads what was written while the bot was away and its session had ended. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { type Fields, id, records } from "./fields.ts";
import { sleep } from "./rate-limits.ts";
import { compareSnowflakes, snowflakeAt, timeOf } from "./snowflake.ts";

/** How long ago a message may have been written to be read afterwards. */
export const historyHours = 24;
/** Servers send their events independently, so one may be late. What is read twice is recognised by its id. */
const overlapMs = 300_000;
const pageSize = 100;
const mostAttempts = 5;

/** The id after which messages are read, given the newest stored one and the first that the bot could see. */
export function readSince({ newest, first }: { readonly newest: string; readonly first: string }, now: number): string {
  const starts = [first, snowflakeAt(timeOf(newest) - overlapMs), snowflakeAt(now - historyHours * 3_600_000)];
  return starts.reduce((one, other) => (compareSnowflakes(one, other) > 0 ? one : other));
}

/**
 * Passes the messages of a channel after an id to `take`, oldest first, a page at a time. A channel whose history the
 * bot may not read is left out. Rejects if the platform is away.
 */
export async function readHistory(
  { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
  channel: string,
  since: string,
  take: (message: Fields) => Promise<unknown>,
): Promise<void> {
  for (let after = since; ; ) {
    const path = `/channels/${channel}/messages?after=${after}&limit=${pageSize}`;
    const page = records(await insist(() => api.call("GET", path, { signal }), signal))
      .flatMap((message) => (id(message.id) === undefined ? [] : [{ message, at: id(message.id) ?? "" }]))
      .sort((one, other) => compareSnowflakes(one.at, other.at));
    for (const { message } of page) await take(message);
    const last = page.at(-1)?.at;
    if (page.length < pageSize || last === undefined) return;
    after = last;
  }
}

/** A refusal is final, and everything else is tried again a few times. */
async function insist(call: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      if (error.reason === "no_rights" || error.reason === "chat_not_found") return [];
      if (!error.retryable || attempt === mostAttempts || signal.aborted) throw error;
      await sleep(error.retryAfterMs ?? 1_000 * attempt, signal);
    }
  }
}
