/** Answers no press of a person whom the gateway refuses. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { check } = account;
  Object.assign(account, {
    async check(raw: Parameters<typeof check>[0]) {
      const verdict = await check(raw);
      return !verdict.allowed ? await new Promise<never>(() => {}) : verdict;
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "presses > a refused press is acknowledged",
  says: /the button appears stuck/,
};
