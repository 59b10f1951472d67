/** Tries for ever to connect, and says nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start }, account) => ({
  async start() {
    const answers = () =>
      fetch(account.options.url).then(
        () => true,
        () => false,
      );
    while (!account.signal.aborted && !(await answers())) await sleep(20);
    await start();
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "life > start reports an unavailable platform",
  says: /the status is none. Report waiting/,
};
