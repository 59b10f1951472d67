/** Takes a group for a direct chat. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, chat: { ...parsed.chat, kind: "direct" } };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "groups > a message has the group as its chat",
  says: /a chat of the kind direct/,
};
