/** Warns when nothing has come for a minute, also after its close. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start }, account) => {
  const { receive } = account;
  let timer: NodeJS.Timeout | undefined;
  Object.assign(account, {
    receive(...event: Parameters<typeof receive>) {
      clearInterval(timer);
      return receive(...event);
    },
  });
  return {
    async start() {
      await start();
      if (!account.signal.aborted) timer = setInterval(() => account.log.warn({}, "nothing has come"), 60_000).unref();
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "leftovers > none after close",
  says: /After close, 1 timers remain/,
};
