/** Sends a new message where only an edit was asked for. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({ send: ({ inPlace: _, ...part }, address, signal) => send(part, address, signal) }));

export const broken: Broken = {
  channel,
  caughtBy: "edits > in place of a message that is gone comes no other",
  says: /no new message may take its place/,
};
