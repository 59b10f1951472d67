/** Takes every message for one to the bot. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, mention: true };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "groups > only what addresses the bot has a mention",
  says: /the bot would reply to it/,
};
