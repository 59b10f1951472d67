/** Knows people by their full names, where they have one. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    const { id, name = "" } = parsed.sender;
    return { ...parsed, sender: { ...parsed.sender, id: name.includes(" ") ? name : id } };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > a person keeps their id when their name changes",
  says: /sender.id is 7, but Ada Lind after/,
};
