/** Takes every sender for a bot. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, sender: { ...parsed.sender, isBot: true } };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > bots are known as bots, and people are not",
  says: /has the sender of a bot/,
};
