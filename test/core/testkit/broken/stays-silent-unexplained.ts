/** Says why an event needs no reply by a code that it does not explain. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    return parsed && "silent" in parsed ? { silent: "postcard_unknown" } : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > each reason to stay silent is in codes",
  says: /for the reason postcard_unknown, which is not in the channel's codes/,
};
