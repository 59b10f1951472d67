/** Shortens the text beside a file. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: (reply, address) =>
    render(reply.media.length > 0 ? { ...reply, text: reply.text.slice(0, 100) } : reply, address),
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > a text beside a file may be long",
  says: /Send the rest as messages/,
};
