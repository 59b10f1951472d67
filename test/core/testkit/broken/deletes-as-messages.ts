/** Takes a deletion for an empty message. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return parsed.kind === "delete" ? { ...parsed, kind: "message" } : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "receive > a deletion names its message and its writer",
  says: /parse it as kind delete/,
};
