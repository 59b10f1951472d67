/** Reports that a text names the bot, but no mention. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, mentionedByName: true, mention: false };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > what names the bot has a mention",
  says: /names the bot \(mentionedByName\), but the message has no mention/,
};
