/** Keeps the first half of a file. */
import { truncate } from "node:fs/promises";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ fetchMedia }) => ({
  async fetchMedia(media, how) {
    const file = await fetchMedia(media, how);
    await truncate(file.path, file.size / 2);
    return file;
  },
}));

export const broken: Broken = { channel, caughtBy: "files > a file is fetched completely", says: /another content/ };
