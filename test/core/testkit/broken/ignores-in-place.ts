/** Sends a new message where only an edit was asked for. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: ({ inPlace: _, ...part }, address, signal) => send(part, address, signal),
}));

export const broken: Broken = {
  channel,
  caughtBy: "edits > an in-place edit of a deleted message sends no new one",
  says: /Do not send a new message instead/,
};
