/** Gives its calls no time limit. */
import { Type } from "service-gateway/sdk";
import { createPostbox, options } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({}), {
  options: Type.Object({ ...options.properties, patienceMs: Type.Integer({ default: 2_147_483_647 }) }),
});

export const broken: Broken = {
  channel,
  caughtBy: "recovery > a platform that falls silent is noticed",
  says: /nothing for ten minutes, but the status is still connected/,
};
