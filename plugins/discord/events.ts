/** What people do, handed to the gateway's store with what the platform leaves out of its events. */
import { ChannelError, type InboundChat } from "service-gateway/sdk/channel";
import { asJson, type StoredEvent } from "./event.ts";
import { type Fields, id, list, record, text } from "./fields.ts";
import type { Dispatch } from "./gateway.ts";
import { createHistory, type EventParts, type Handed } from "./history.ts";
import { answerInteraction, interactionChat } from "./interaction.ts";
import type { Places } from "./places.ts";
import type { Writers } from "./writers.ts";

type EventOptions = EventParts & { readonly writers: Writers };

export interface Events {
  /** Resolves when everything that the event lacks is known, and it is on its way to the store. */
  hand(dispatch: Dispatch): Promise<Handed>;
  /** A new session begins. */
  begin(ready: Dispatch): void;
  /** Called when an event arrives, whatever is still to be done for those before. */
  answer(dispatch: Dispatch): void;
}

export function createEvents(options: EventOptions): Events {
  const { account, api, places, progress } = options;
  const eventOf = (type: string, data: Fields, more: Partial<StoredEvent> = {}): StoredEvent => ({
    ...{ type, data, bot: progress.state().bot ?? "0", role: places.roleIn(id(data.guild_id)) },
    ...more,
  });
  const { message, deletions } = createMessages(options, eventOf);
  const history = createHistory({ ...options, message: (data) => message("MESSAGE_CREATE", data) });

  async function reaction(data: Fields, sequence: number): Promise<Handed> {
    const { bot, session } = progress.state();
    const channel = id(data.channel_id);
    if (channel === undefined || data.message_author_id !== bot || data.user_id === bot) return {};
    const chat = await chatOf(places, channel);
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

  return {
    async hand({ type, data, sequence }) {
      places.learn(type, data);
      switch (type) {
        case "READY":
        case "RESUMED":
          return await history.directs();
        case "GUILD_CREATE":
          return await history.server(data);
        case "GUILD_DELETE":
          return history.left(data);
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
    },
    begin: history.begin,
    answer({ type, data }) {
      // The platform waits for 3 s.
      if (type === "INTERACTION_CREATE")
        void answerInteraction(eventOf(type, data, { chat: interactionChat(data) }), { api, account });
    },
  };
}

/** A channel that may not be looked up, although its events arrive, is known by its id alone. */
async function chatOf(places: Places, channel: string): Promise<InboundChat> {
  const found = await places.chatOf(channel).catch((error: unknown) => {
    if (error instanceof ChannelError && !error.retryable) return undefined;
    throw error;
  });
  return found ?? { id: channel, kind: "group" };
}

/** Messages, their edits and deletions. */
function createMessages(
  { account, places, progress, writers }: EventOptions,
  eventOf: (type: string, data: Fields, more?: Partial<StoredEvent>) => StoredEvent,
) {
  /** The ids of messages are those of the host, so that it finds a message by its name. */
  async function message(type: string, data: Fields): Promise<Handed> {
    const [channel, author, key] = [id(data.channel_id), id(record(data.author)?.id), id(data.id)];
    if (channel === undefined || author === undefined || key === undefined) return {};
    if (author === progress.state().bot) return { message: key };
    // A bot is in no group of persons: without a server, it is a direct chat.
    if (id(data.guild_id) === undefined) await places.remember(author, channel);
    const chat = await chatOf(places, channel);
    const edited = type === "MESSAGE_UPDATE" ? text(data.edited_timestamp) : undefined;
    // The platform has added the preview of a link.
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
      const chat = await chatOf(places, channel);
      found.push(account.receive(asJson(eventOf("MESSAGE_DELETE", { id: key }, { chat, writer }))));
    }
    return { stored: Promise.all(found) };
  }

  return { message, deletions };
}
