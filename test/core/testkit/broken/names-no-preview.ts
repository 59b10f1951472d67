/** Keeps to itself which messages a preview made. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview: (address, how) => preview(address, { ...how, onMessage() {} }),
}));

export const broken: Broken = { channel, caughtBy: "preview > names its messages", says: /onMessage was not called/ };
