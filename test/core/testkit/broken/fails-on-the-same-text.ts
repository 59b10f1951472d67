/** Fails when an edit changes nothing. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => {
  const texts = new Map<string, string>();
  return {
    async send(part, address, signal) {
      const text = JSON.stringify(part.body);
      if (part.replaces !== undefined && texts.get(part.replaces) === text)
        throw new ChannelError("message_not_modified");
      const receipt = await send(part, address, signal);
      texts.set(receipt.messageId, text);
      return receipt;
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "edits > the same text again resolves",
  says: /changes nothing does not resolve/,
};
