/** Reads an event without a look at what it is. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const { text, from } = raw as { readonly text: string; readonly from: { readonly id: number } };
    return text.trim() === "" || from.id === 0 ? null : parse(raw);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > never throws, and returns what the host can use",
  says: /parse throws on null/,
};
