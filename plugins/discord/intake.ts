/**
 * Events on their way to the gateway's store, in the order in which the platform sent them. What they leave out is
 * looked up before; the sequence number is stored when they are.
 */
import { type ChannelAccount, ChannelError, type InboundChat } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { asJson, type StoredEvent } from "./event.ts";
import { type Fields, id, list, number, record, records, text } from "./fields.ts";
import type { Dispatch } from "./gateway.ts";
import { readHistory, readSince } from "./history.ts";
import { answerInteraction, interactionChat } from "./interaction.ts";
import type { Places } from "./places.ts";
import type { Progress } from "./progress.ts";
import { compareSnowflakes, snowflakeAt } from "./snowflake.ts";
import type { Writers } from "./writers.ts";

export interface IntakeOptions {
  readonly account: Pick<ChannelAccount, "receive" | "check" | "log" | "now" | "signal">;
  readonly api: Api;
  readonly places: Places;
  readonly progress: Progress;
  readonly writers: Writers;
  /** An event could not be stored, or what it needs could not be looked up: the connection has to begin again. */
  readonly onFailure: (error: Error) => void;
}

export interface Intake {
  take(dispatch: Dispatch): void;
  /** Resolves when all events are stored, or one of them is not. */
  settled(): Promise<void>;
}

/** What becomes of an event. */
interface Handed {
  readonly stored?: Promise<unknown>;
  /** The message that it contains. */
  readonly message?: string;
}

/** Forums and media channels have posts, and no messages of their own. */
const withoutMessages: readonly number[] = [15, 16];

export function createIntake({ account, api, places, progress, writers, onFailure }: IntakeOptions): Intake {
  const { signal } = account;
  let handed: Promise<unknown> = Promise.resolve();
  let stored: Promise<unknown> = Promise.resolve();
  let hasFailed = false;

  const eventOf = (type: string, data: Fields, more: Partial<StoredEvent> = {}): StoredEvent => ({
    ...{ type, data, bot: progress.state().bot ?? "0", role: places.roleIn(id(data.guild_id)) },
    ...more,
  });

  /** A channel that may not be looked up, although its events arrive, is known by its id alone. */
  async function chatOf(channel: string, data: Fields): Promise<InboundChat> {
    const unknown = { id: channel, kind: "group" } as const;
    if (data.guild_id === undefined) return (await places.chatOf(channel)) ?? unknown;
    try {
      return (await places.chatOf(channel)) ?? unknown;
    } catch (error) {
      if (error instanceof ChannelError && !error.retryable) return unknown;
      throw error;
    }
  }

  /** Messages and their edits. Their ids are those of the host, so that it finds a message by its name. */
  async function message(type: string, data: Fields): Promise<Handed> {
    const [channel, author, key] = [id(data.channel_id), id(record(data.author)?.id), id(data.id)];
    if (channel === undefined || author === undefined || key === undefined) return {};
    if (author === progress.state().bot) return { message: key };
    // A bot is in no group of persons: without a server, it is a direct chat.
    if (id(data.guild_id) === undefined) await places.remember(author, channel);
    const chat = await chatOf(channel, data);
    const edited = type === "MESSAGE_UPDATE" ? text(data.edited_timestamp) : undefined;
    // The preview of a link: nobody has edited anything.
    if (type === "MESSAGE_UPDATE" && edited === undefined) return {};
    const at = edited === undefined ? {} : { id: `${key}:${edited}` };
    const event = eventOf(type, data, { chat });
    const receiving = Promise.all([account.receive(asJson(event), at), writers.remember(key, author)]);
    return { stored: receiving, ...(type === "MESSAGE_CREATE" && { message: key }) };
  }

  async function deletions(data: Fields): Promise<Handed> {
    const channel = id(data.channel_id);
    const ids = [id(data.id) ?? [], list(data.ids).flatMap((each) => id(each) ?? [])].flat();
    const found: Promise<unknown>[] = [];
    for (const key of ids) {
      const writer = await writers.of(key);
      if (writer === undefined || channel === undefined) continue;
      const chat = await chatOf(channel, data);
      found.push(account.receive(asJson(eventOf("MESSAGE_DELETE", { id: key }, { chat, writer }))));
    }
    return { stored: Promise.all(found) };
  }

  async function reaction(data: Fields, sequence: number): Promise<Handed> {
    const { bot, session } = progress.state();
    const channel = id(data.channel_id);
    if (channel === undefined || data.message_author_id !== bot || data.user_id === bot) return {};
    const chat = await chatOf(channel, data);
    // The platform gives a reaction no id, but the same event always has the same number.
    const at = session === undefined ? {} : { id: `${session.id}:${sequence}` };
    return { stored: account.receive(asJson(eventOf("MESSAGE_REACTION_ADD", data, { chat })), at) };
  }

  function interaction(data: Fields): Handed {
    const key = id(data.id);
    const at = key === undefined ? {} : { id: key };
    return {
      stored: account.receive(asJson(eventOf("INTERACTION_CREATE", data, { chat: interactionChat(data) })), at),
    };
  }

  async function readAgain(channel: string, guild?: string): Promise<void> {
    const { newest, first } = progress.state();
    if (newest === undefined || first === undefined) return;
    const since = readSince({ newest, first }, account.now());
    await readHistory({ api, signal }, channel, since, async (data) => {
      await (await message("MESSAGE_CREATE", { ...data, ...(guild !== undefined && { guild_id: guild }) })).stored;
    });
  }

  /** A new session: what was written since the last one has to be read. */
  async function ready(data: Fields, sequence: number): Promise<Handed> {
    const { newest = snowflakeAt(account.now()), first = newest } = progress.state();
    const unread = records(data.guilds).flatMap((guild) => id(guild.id) ?? []);
    progress.change({ newest, first, unread });
    for (const { channel } of await places.directs()) await readAgain(channel);
    const [session, url] = [text(data.session_id), text(data.resume_gateway_url)];
    if (session !== undefined && url !== undefined) progress.change({ session: { id: session, url, sequence } });
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

  async function hand({ type, data, sequence }: Dispatch): Promise<Handed> {
    places.learn(type, data);
    switch (type) {
      case "READY":
        return await ready(data, sequence);
      case "GUILD_CREATE":
        return await server(data);
      case "GUILD_DELETE": {
        const { unread = [] } = progress.state();
        if (data.unavailable !== true) progress.change({ unread: unread.filter((each) => each !== data.id) });
        return {};
      }
      case "MESSAGE_CREATE":
      case "MESSAGE_UPDATE":
        return await message(type, data);
      case "MESSAGE_DELETE":
      case "MESSAGE_DELETE_BULK":
        return await deletions(data);
      case "MESSAGE_REACTION_ADD":
        return await reaction(data, sequence);
      case "INTERACTION_CREATE":
        return interaction(data);
      default:
        return {};
    }
  }

  function fail(error: unknown): void {
    if (hasFailed) return;
    hasFailed = true;
    // What the platform refuses now may be allowed later: the event comes again.
    const { message: words } = error instanceof Error ? error : new Error(String(error));
    const retryAfterMs = error instanceof ChannelError ? error.retryAfterMs : undefined;
    onFailure(new ChannelError("attempt_failed", { retryable: true, retryAfterMs, detail: words, cause: error }));
  }

  return {
    take(dispatch) {
      if (hasFailed) return;
      const { type, data, sequence } = dispatch;
      if (type === "READY") {
        const bot = id(record(data.user)?.id);
        if (bot !== undefined) progress.change({ bot });
      }
      // The platform waits for 3 s, whatever is still to be looked up for the events before.
      if (type === "INTERACTION_CREATE")
        void answerInteraction(eventOf(type, data, { chat: interactionChat(data) }), { api, account });
      const next = handed.then(() => hand(dispatch));
      handed = next;
      stored = Promise.all([stored, next]).then(async ([, { stored: storing, message: key }]) => {
        await storing;
        progress.stored(sequence, key);
      });
      handed.catch(fail);
      stored.catch(fail);
    },
    settled: () =>
      stored.then(
        () => {},
        () => {},
      ),
  };
}
