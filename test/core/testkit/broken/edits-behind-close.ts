/** Makes the edit that waits when a preview is closed already. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview(address, how) {
    let shown = preview(address, how);
    let wanted: string | undefined;
    return {
      update(text) {
        wanted = text;
        shown.update(text);
      },
      async close() {
        const ids = await shown.close();
        const last = wanted;
        wanted = undefined;
        // Where nothing waits, this changes nothing.
        shown = preview(address, { ...how, resume: ids });
        const late = shown;
        if (last !== undefined) late.update(last);
        setTimeout(() => void late.close(), 150).unref();
        shown = { update() {}, close: async () => ids };
        return ids;
      },
    };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > becomes the answer",
  says: /The reply replaced its preview/,
};
