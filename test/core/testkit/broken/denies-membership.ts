/** Says of every group that the bot is not in it. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ members: async () => ({ ok: false, detail: "not a member" }) }));

export const broken: Broken = {
  channel,
  caughtBy: "groups > members knows the bot's own group",
  says: /The bot is in the group, but members returns/,
};
