/** Takes its own messages for those of a person. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    const other = typeof raw === "object" && raw !== null && !Array.isArray(raw) ? { ...raw, from: { id: 8 } } : raw;
    return parsed && "silent" in parsed ? parse(other) : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > events of the bot itself are silent",
  says: /the bot would reply to itself/,
};
