/** Answers no press of a button that it does not know. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { check } = account;
  Object.assign(account, {
    async check(raw: Parameters<typeof check>[0]) {
      const verdict = await check(raw);
      return (raw as { readonly text?: string }).text === "of-an-old-message"
        ? await new Promise<never>(() => {})
        : verdict;
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "presses > an unknown press is acknowledged",
  says: /the button appears stuck/,
};
