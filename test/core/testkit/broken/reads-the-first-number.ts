/** Takes what begins like a chat for that chat. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) => send(part, { ...address, chat: String(Number.parseInt(address.chat, 10)) }, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > an id that is not a chat reaches no person",
  says: /"7,7", which is not a chat, reached the person/,
};
