/** Has no menu until the commands change. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  Object.assign(account, { commands: () => [] });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "menu > start registers the commands",
  says: /The connection has started, and the menu has/,
};
