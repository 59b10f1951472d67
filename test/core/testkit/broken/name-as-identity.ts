/** Knows people by their names. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return { ...parsed, sender: { ...parsed.sender, id: parsed.sender.name ?? parsed.sender.id } };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > a person keeps their id when their name changes",
  says: /sender.id is Ada, and Ada Lind after/,
};
