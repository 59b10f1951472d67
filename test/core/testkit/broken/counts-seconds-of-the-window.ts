/** Says in seconds until when the bot may write. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

export const broken: Broken = {
  channel: createPostbox((_, { now }) => ({ reaches: () => ({ untilMs: now() / 1_000 + 86_400 }) })),
  caughtBy: "reaches > the bot may write to a person who has just written",
  says: /Use epoch milliseconds/,
};
