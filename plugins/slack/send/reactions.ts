/** The bot's reactions: one on a message at a time. */
import { type ChannelConnection, ChannelError, emojiName } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import type { Chats } from "./chats.ts";

const mostMessages = 1_000;

export function createReact(api: SlackApi, chats: Chats): NonNullable<ChannelConnection["react"]> {
  const names = new Map<string, string>();

  /** What is already so needs no call. */
  async function set(method: string, args: Readonly<Record<string, string>>, isSo: string): Promise<void> {
    try {
      await api.call(method, args);
    } catch (error) {
      if (!(error instanceof ChannelError && error.message.endsWith(`: ${isSo}`))) throw error;
    }
  }

  return async (messageId, emoji, { chat }) => {
    const channel = await chats.find(chat);
    const at = { channel, timestamp: messageId };
    const key = `${channel}:${messageId}`;
    const before = names.get(key);
    const name = emoji === null ? undefined : emojiName(emoji);
    if (emoji !== null && name === undefined)
      throw new ChannelError("reaction_invalid", {
        detail: "Slack has no name for this emoji. Name one of the workspace between colons, such as :party_parrot:",
      });
    if (name !== undefined) await set("reactions.add", { ...at, name }, "already_reacted");
    if (before !== undefined && before !== name) await set("reactions.remove", { ...at, name: before }, "no_reaction");
    names.delete(key);
    if (name !== undefined) names.set(key, name);
    if (names.size > mostMessages) names.delete(names.keys().next().value as string);
  };
}
