/** Gives an answer up because its preview is gone. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) =>
    send(part.replaces === undefined ? part : { ...part, inPlace: true }, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "edits > a reply arrives even if the message that it replaces was deleted",
  says: /send the part as a new message/,
};
