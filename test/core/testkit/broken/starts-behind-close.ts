/** Sets its timer when it has connected, closed or not. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start, close }, account) => {
  let timer: NodeJS.Timeout | undefined;
  return {
    async start() {
      await start();
      timer = setInterval(() => account.log.trace({}, "alive"), 60_000).unref();
    },
    async close() {
      clearInterval(timer);
      await close();
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "leftovers > none after close during start",
  says: /After close during start, 1 timers/,
};
