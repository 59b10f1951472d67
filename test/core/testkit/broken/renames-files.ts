/** Gives each file a name of its own. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, media: (parsed.media ?? []).map((one) => ({ ...one, fileName: "file.bin" })) };
  },
}));

export const broken: Broken = { channel, caughtBy: "files > a file of a person is described", says: /has the name/ };
