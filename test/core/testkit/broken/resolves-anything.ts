/** Takes every text for a chat. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ resolve: async (target) => target }));

export const broken: Broken = {
  channel,
  caughtBy: "resolve > an unknown recipient is refused",
  says: /a recipient that does not exist/,
};
