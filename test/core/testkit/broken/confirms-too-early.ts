/** Takes an event for done before it is stored. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  // As a channel does that does not wait for what receive resolves with.
  Object.assign(account, {
    receive: (...event: Parameters<typeof receive>) =>
      receive(...event).catch(() => ({ eventId: "", duplicate: false })),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "receive > an event that could not be stored is not confirmed",
  says: /Confirm it to the platform only when/,
};
