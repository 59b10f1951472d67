/** Gives a deletion another writer. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return parsed.kind === "delete" ? { ...parsed, sender: { id: "platform" } } : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "receive > a deletion names its message and its writer",
  says: /The gateway would ignore it/,
};
