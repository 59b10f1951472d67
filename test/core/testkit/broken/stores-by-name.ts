/** Stores a file by the name that its sender gave it. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ fetchMedia }, { directory }) => ({
  async fetchMedia(media, how) {
    const file = await fetchMedia(media, how);
    const path = join(directory, "media", media.fileName ?? "file");
    // A test must not write outside of its directory; the path is wrong without it.
    if (path.startsWith(directory)) await rename(file.path, path);
    return { ...file, path };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > a sender's file name is not used as a path",
  says: /Never use a sender's file name as a path/,
};
