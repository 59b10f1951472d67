/** Answers what was said in a group in the direct chat. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) => send(part, address.chat === "500" ? { ...address, chat: "7" } : address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "conversation > an answer stays in its group",
  says: /wrote in a group and sees/,
};
