/** Has a function whose capability it does not declare, so nobody calls it. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const whole = createPostbox(() => ({}));
const { typing: _, ...capabilities } = whole.channel.capabilities;

export const broken: Broken = {
  channel: { ...whole, channel: { ...whole.channel, capabilities } },
  caughtBy: "declaration > the gateway calls each function of the connection",
  says: /has a function typing, which the gateway calls only with the capability typing/,
};
