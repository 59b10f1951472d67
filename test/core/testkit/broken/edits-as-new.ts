/** Takes an edit for another message. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return parsed.kind === "edit" ? { ...parsed, messageId: `edit-${parsed.messageId}` } : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "receive > an edit keeps the id of its message",
  says: /An edit keeps the id of its message/,
};
