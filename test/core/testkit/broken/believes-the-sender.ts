/** Takes the person at their word about where a message comes from. */
import { createPostbox } from "../postbox/channel.ts";
import type { PostboxEvent } from "../postbox/platform.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    const { onBehalfOf } = (raw ?? {}) as unknown as Partial<PostboxEvent>;
    if (onBehalfOf === undefined || parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, sender: { id: String(onBehalfOf.id) }, chat: { id: String(onBehalfOf.chat), kind: "group" } };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "receive > a forged event stays one of its sender, in their chat",
  says: /became a message of 8 in the chat 500/,
};
