/** Does not read which senders are bots. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    const { isBot: _, ...sender } = parsed.sender;
    return { ...parsed, sender };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > bots are known as bots, and people are not",
  says: /has a sender without isBot/,
};
