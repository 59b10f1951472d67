/** Shows an older text now and then. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview(address, how) {
    const shown = preview(address, how);
    const texts: string[] = [];
    return {
      ...shown,
      update(text) {
        texts.push(text);
        shown.update(texts.length % 3 === 0 ? (texts.at(-30) ?? text) : text);
      },
    };
  },
}));

export const broken: Broken = { channel, caughtBy: "preview > never shows an older text", says: /must never go back/ };
