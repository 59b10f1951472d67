/** Takes in nothing that was written before it came back. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start }, account) => {
  const { receive } = account;
  let skips = false;
  Object.assign(account, {
    receive: async (...args: Parameters<typeof receive>) =>
      skips ? { eventId: "", duplicate: true } : await receive(...args),
  });
  return {
    async start() {
      skips = (await account.store.get("was here")) === true;
      await account.store.set("was here", true);
      await start();
      skips = false;
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "absence > what a person writes while the bot is away arrives once, in order",
  says: /While the bot was away, the person wrote "second while away", and the agent has read/,
};
