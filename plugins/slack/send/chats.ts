/** Where a chat is at Slack: a direct chat is named by the person, and has an id of its own there. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { channelPattern, idPattern, record, text } from "../fields.ts";

const person = new RegExp(`^${idPattern}$`);
const channel = new RegExp(`^${channelPattern}$`);

export interface Chats {
  /** The id that calls take. Throws `chat_not_found` for an id that Slack cannot have. */
  find(chat: string, signal?: AbortSignal): Promise<string>;
  learn(person: string, id: string): void;
  /** The chat is another one now, such as that of another app in the account. `false`: it was not remembered. */
  forget(chat: string): Promise<boolean>;
}

export function createChats(api: SlackApi, { store, log }: Pick<ChannelAccount, "store" | "log">): Chats {
  const direct = new Map<string, string>();
  function learn(id: string, where: string): void {
    if (direct.get(id) === where) return;
    direct.set(id, where);
    store
      .set(`direct:${id}`, where)
      .catch((error: unknown) => log.debug({ error: String(error) }, "a chat was not stored"));
  }
  return {
    learn,
    async forget(chat) {
      direct.delete(chat);
      return await store.delete(`direct:${chat}`);
    },
    async find(chat, signal) {
      if (channel.test(chat)) return chat;
      if (!person.test(chat))
        throw new ChannelError("chat_not_found", { detail: "this is not the id of a chat of Slack" });
      const known = direct.get(chat) ?? text(await store.get(`direct:${chat}`));
      if (known !== undefined) return known;
      const answer = await api
        .call("conversations.open", { users: chat }, signal === undefined ? {} : { signal })
        .catch((error: unknown) => {
          // Nothing was written yet, and opening a chat twice opens it once.
          if (error instanceof ChannelError && error.fate === "unknown")
            throw new ChannelError(error.reason, { retryable: true, detail: error.message });
          throw error;
        });
      const opened = text(record(answer.channel)?.id);
      if (opened === undefined)
        throw new ChannelError("bad_answer", { detail: "conversations.open: no channel", retryable: true });
      learn(chat, opened);
      return opened;
    },
  };
}
