/** Closes a preview only while the platform answers. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview, probe }) => ({
  preview(address, how) {
    const shown = preview(address, how);
    return {
      ...shown,
      async close() {
        const ids = await shown.close();
        if (!(await probe()).ok) throw new Error("the platform is away");
        return ids;
      },
    };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > can be closed during an outage",
  says: /close of a preview rejects/,
};
