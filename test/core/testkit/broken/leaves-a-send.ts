/** Leaves a send without an answer when it closes. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, account) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((error: unknown) => {
      if (account.signal.aborted) return new Promise<never>(() => {});
      throw error;
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "leftovers > close ends a pending send",
  says: /the send does not end/,
};
