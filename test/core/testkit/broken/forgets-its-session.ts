/** Has its session in memory only. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ close }, account) => {
  let session: string | undefined;
  Object.assign(account, {
    secrets: {
      get: async () => session,
      async set(_name: string, text: string) {
        session = text;
      },
      delete: async () => false,
    },
  });
  return {
    async close() {
      session = undefined;
      await close();
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "sign-in > a person is asked once, also over a restart",
  says: /asks a person to sign in again after a restart|The account is opened again/,
};
