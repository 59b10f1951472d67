/** Keeps an interval that no close stops. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start }, account) => ({
  async start() {
    setInterval(() => account.log.trace({}, "alive"), 60_000).unref();
    await start();
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "life > close leaves no socket and no timer",
  says: /After close there are 1 timers left/,
};
