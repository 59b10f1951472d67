/** Reads what was written while the bot was away and its session had ended. */
import { type ChannelAccount, ChannelError, pause } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { type Fields, id, number, record, records, text } from "./fields.ts";
import type { Dispatch } from "./gateway.ts";
import type { Places } from "./places.ts";
import type { Progress } from "./progress.ts";
import { compareSnowflakes, snowflakeAt, timeOf } from "./snowflake.ts";

/** How long ago a message may have been written to be read afterwards. */
export const historyHours = 24;
/** Servers send their events independently, so one may be late. What is read twice is recognised by its id. */
const overlapMs = 300_000;
const pageSize = 100;
const mostAttempts = 5;

/** The id after which messages are read, given the newest stored one and the first that the bot could see. */
function readSince({ newest, first }: { readonly newest: string; readonly first: string }, now: number): string {
  const starts = [first, snowflakeAt(timeOf(newest) - overlapMs), snowflakeAt(now - historyHours * 3_600_000)];
  return starts.reduce((one, other) => (compareSnowflakes(one, other) > 0 ? one : other));
}

/**
 * Passes the messages of a channel after an id to `take`, oldest first, a page at a time. A channel whose history the
 * bot may not read is left out. Rejects if the platform is away.
 */
async function readHistory(
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
      await pause(error.retryAfterMs ?? 1_000 * attempt, signal);
    }
  }
}

/** What events are handed on with. */
export interface EventParts {
  readonly account: Pick<ChannelAccount, "receive" | "check" | "log" | "now" | "signal">;
  readonly api: Api;
  readonly places: Places;
  readonly progress: Progress;
}

/** What becomes of an event. */
export interface Handed {
  readonly stored?: Promise<unknown>;
  /** The message that it contains. */
  readonly message?: string;
}

/** Stands for the direct chats in the list of what is not read yet, which are in no server. */
const directChats = "0";
/** Forums and media channels have posts, and no messages of their own. */
const withoutMessages: readonly number[] = [15, 16];

/** What was written while there was no session: it is read when the next one begins, server by server. */
export function createHistory({
  account,
  api,
  places,
  progress,
  message,
}: EventParts & {
  readonly message: (data: Fields) => Promise<Handed>;
}) {
  const { signal } = account;

  async function readAgain(channel: string, guild?: string): Promise<void> {
    const { newest, first } = progress.state();
    if (newest === undefined || first === undefined) return;
    const since = readSince({ newest, first }, account.now());
    await readHistory({ api, signal }, channel, since, async (data) => {
      await (await message({ ...data, ...(guild !== undefined && { guild_id: guild }) })).stored;
    });
  }

  /** Direct chats are read once for a session, also if it goes on in another process. */
  async function directs(): Promise<Handed> {
    const { unread = [] } = progress.state();
    if (!unread.includes(directChats)) return {};
    for (const { channel } of await places.directs()) await readAgain(channel);
    progress.change({ unread: unread.filter((each) => each !== directChats) });
    return {};
  }

  async function server(data: Fields): Promise<Handed> {
    const guild = id(data.id);
    const { unread = [], newest = "0" } = progress.state();
    if (guild === undefined || !unread.includes(guild) || data.unavailable === true) return {};
    for (const each of [...records(data.channels), ...records(data.threads)]) {
      const [channel, last] = [id(each.id), id(each.last_message_id)];
      if (channel === undefined || last === undefined || withoutMessages.includes(number(each.type) ?? 0)) continue;
      const since = readSince({ newest, first: progress.state().first ?? newest }, account.now());
      if (compareSnowflakes(last, since) > 0) await readAgain(channel, guild);
    }
    progress.change({ unread: unread.filter((each) => each !== guild) });
    return {};
  }

  return {
    /** A new session: what was written since the last one has to be read. */
    begin({ data, sequence }: Dispatch): void {
      const { newest = snowflakeAt(account.now()), first = newest } = progress.state();
      const [name, url, bot] = [text(data.session_id), text(data.resume_gateway_url), id(record(data.user)?.id)];
      const session = name === undefined || url === undefined ? undefined : { id: name, url, sequence };
      const guilds = records(data.guilds).flatMap((guild) => id(guild.id) ?? []);
      progress.change({ ...(bot !== undefined && { bot }), session, newest, first, unread: [directChats, ...guilds] });
    },
    directs,
    server,
    /** The bot is no longer in a server. */
    left(data: Fields): Handed {
      const { unread = [] } = progress.state();
      if (data.unavailable !== true) progress.change({ unread: unread.filter((each) => each !== data.id) });
      return {};
    },
  };
}
