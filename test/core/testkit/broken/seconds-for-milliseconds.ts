/** Hands on the seconds of its platform. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, timestamp: (parsed.timestamp ?? 0) / 1_000 };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > times are epoch milliseconds",
  says: /1760000000 is not in epoch milliseconds/,
};
