/** Goes on where it is updated after its close. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview(address, how) {
    let shown = preview(address, how);
    let ids: readonly string[] | undefined;
    return {
      update(text) {
        if (ids !== undefined) {
          shown = preview(address, { ...how, resume: ids });
          const late = shown;
          setTimeout(() => void late.close(), 200).unref();
        }
        shown.update(text);
      },
      async close() {
        ids ??= await shown.close();
        return ids;
      },
    };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > changes nothing after its close",
  says: /it would overwrite the reply/,
};
