/** Fails when it is asked about a group that the bot is not in. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ members }) => ({
  async members(chat) {
    const found = await members(chat);
    if (!found.ok) throw new ChannelError("chat_not_found");
    return found;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "groups > members resolves for a group without the bot",
  says: /does not resolve/,
};
