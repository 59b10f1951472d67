/** Reads that a text addresses the bot, but not that it names it. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, mentionedByName: false };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "groups > only a text that names the bot says so",
  says: /has no mentionedByName/,
};
