/** Sends to the group what is for one person. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: ({ onlyFor: _, ...part }, address, signal) => send(part, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "ephemeral > only the sender sees a part that is for them alone",
  says: /Everyone in the group sees a part whose onlyFor names one person/,
};
