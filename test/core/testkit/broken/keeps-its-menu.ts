/** Keeps the menu of its start. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ async menu() {} }));

export const broken: Broken = {
  channel,
  caughtBy: "menu > new commands replace the old ones",
  says: /The commands have changed, and the menu has/,
};
