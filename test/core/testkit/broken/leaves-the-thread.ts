/** Answers in the chat, whatever the thread. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, { thread: _, ...address }, signal) => send(part, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "conversation > an answer stays in its thread",
  says: /wrote in a thread and sees \[\] there/,
};
