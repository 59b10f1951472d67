/** Fetches a file of any size. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ fetchMedia }) => ({
  fetchMedia: (media, how) => fetchMedia(media, { ...how, maxBytes: Number.POSITIVE_INFINITY }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > a file above the limit is refused",
  says: /larger than maxBytes/,
};
