/** Takes events in while it is paused. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ async pause() {} }));

export const broken: Broken = {
  channel,
  caughtBy: "pause > stops receiving, and still sends",
  says: /written after pause was received/,
};
