/** Keeps a listener of the process until the first message. */
import { setTimeout as delay } from "node:timers/promises";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start, close }, account) => {
  const { receive } = account;
  const onSignal = () => account.log.debug({}, "a signal");
  Object.assign(account, {
    receive(...event: Parameters<typeof receive>) {
      process.off("SIGUSR2", onSignal);
      return receive(...event);
    },
  });
  return {
    async start() {
      await start();
      if (!account.signal.aborted) process.on("SIGUSR2", onSignal);
      // Only so that other tests see none of it; the rule looks before.
      void delay(20_000, undefined, { ref: false }).then(() => process.off("SIGUSR2", onSignal));
    },
    close,
  };
});

export const broken: Broken = { channel, caughtBy: "leftovers > none after close", says: /1 listeners of the process/ };
