/** Gives an answer up because its preview is gone. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) => send(part.replaces === undefined ? part : { ...part, inPlace: true }, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "edits > an answer outlives the message that it replaces",
  says: /send it as a new message/,
};
