/** Fetches files without the signal. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const never = new AbortController().signal;

const channel = createPostbox(({ fetchMedia }) => ({
  fetchMedia: (media, how) => fetchMedia(media, { ...how, signal: never }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > an abort ends the fetch",
  says: /but fetchMedia continued/,
};
