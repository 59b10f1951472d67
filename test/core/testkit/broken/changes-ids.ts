/** Adds its name to each id. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ resolve }) => ({ resolve: async (target) => `postbox:${await resolve(target)}` }));

export const broken: Broken = {
  channel,
  caughtBy: "resolve > an id resolves to itself",
  says: /Return an id unchanged/,
};
