/** Keeps the timer of a preview. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview(address, how) {
    const shown = preview(address, how);
    setInterval(() => {}, 60_000).unref();
    return shown;
  },
}));

export const broken: Broken = { channel, caughtBy: "preview > leaves no timer", says: /more timers/ };
