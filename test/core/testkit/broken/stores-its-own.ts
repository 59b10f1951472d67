/** Gives no reason for its own messages, so the gateway stores each of them. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    return parsed && "silent" in parsed ? null : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > events of the bot itself are silent",
  says: /does not store what the bot has sent/,
};
