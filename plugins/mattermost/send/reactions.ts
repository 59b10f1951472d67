/** The bot's reaction to a message. */
import { type ChannelConnection, ChannelError, emojiName } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import type { Directory } from "../directory.ts";
import { checkedId, list, record, text } from "../fields.ts";

export function createReactions({
  api,
  directory,
}: {
  readonly api: Api;
  readonly directory: Directory;
}): NonNullable<ChannelConnection["react"]> {
  return async (messageId, emoji) => {
    const { id: own } = await directory.me();
    const name = emoji === null ? undefined : emojiName(emoji);
    if (emoji !== null && name === undefined)
      throw new ChannelError("reaction_invalid", {
        detail: `Mattermost has no name for ${emoji}. Name one of the server between colons, such as :party_parrot:`,
      });
    const there = list(await api.call("GET", `posts/${checkedId(messageId)}/reactions`))
      .map(record)
      .filter(({ user_id }) => user_id === own)
      .map(({ emoji_name }) => text(emoji_name));
    for (const old of there.filter((one) => one !== name))
      await api.call("DELETE", `users/me/posts/${messageId}/reactions/${encodeURIComponent(old)}`);
    if (name !== undefined && !there.includes(name))
      await api.call("POST", "reactions", { body: { user_id: own, post_id: messageId, emoji_name: name } });
  };
}
