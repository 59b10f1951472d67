/** Sends the first message of a preview without its key. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview: (address, { key: _, ...how }) => preview(address, how),
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > continues its first message by its key",
  says: /created a second message/,
};
