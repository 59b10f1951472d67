/** Makes an empty file of one that is gone. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ fetchMedia }, { directory, newId }) => ({
  fetchMedia: (media, how) =>
    fetchMedia(media, how).catch(async (error: unknown) => {
      if (!(error instanceof ChannelError) || error.reason !== "media_refused") throw error;
      const path = join(directory, newId());
      await writeFile(path, "");
      return { path, mimeType: "text/plain", size: 0 };
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > a deleted file is refused",
  says: /no longer has the file/,
};
