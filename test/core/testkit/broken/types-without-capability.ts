/** Has a function whose capability it does not declare, so the gateway never calls it. */
import { capabilities, createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

export const broken: Broken = {
  channel: createPostbox(() => ({}), { capabilities: { ...capabilities, typing: false } }),
  caughtBy: "declaration > the gateway calls each function of the connection",
  says: /has a function typing, which the gateway calls only with the capability typing/,
};
