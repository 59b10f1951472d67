/** Finds more stickers than it was asked for. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ findMedia }) => ({
  findMedia: async (...asked) =>
    Array.from({ length: 5 }, () => findMedia(...asked)).reduce(async (all, some) => [...(await all), ...(await some)]),
}));

export const broken: Broken = {
  channel,
  caughtBy: "stickers > findMedia respects the limit, and each result can be sent",
  says: /returns 5/,
};
