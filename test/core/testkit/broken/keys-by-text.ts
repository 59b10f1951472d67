/** Derives the key of a message from its text, so that the platform swallows whatever is said a second time. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) => send({ ...part, key: JSON.stringify(part.body) }, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "repetition > another key is another message",
  says: /Pass part\.key unchanged/,
};
