/** Listens to the signal of each send, for ever. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, account) => ({
  send(part, address, signal) {
    signal.addEventListener("abort", () => account.log.debug({}, "aborted"));
    return send(part, address, signal);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > leaves no listener on the signal",
  says: /their signal has 12 listeners/,
};
