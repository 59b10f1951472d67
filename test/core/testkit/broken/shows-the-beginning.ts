/** Shows the first text of a preview, and no other. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview(address, how) {
    const shown = preview(address, how);
    let updated = false;
    return {
      ...shown,
      update(text) {
        if (!updated) shown.update(text);
        updated = true;
      },
    };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > shows the growing text",
  alsoCaughtBy: ["preview > continues its first message by its key"],
  says: /Show the newest text/,
};
