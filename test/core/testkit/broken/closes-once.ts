/** Fails when it is closed again. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ close }) => {
  let closed = false;
  return {
    async close() {
      if (closed) throw new Error("it is closed");
      closed = true;
      await close();
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "life > close may be called twice, and before start",
  says: /close rejects: it is closed/,
};
