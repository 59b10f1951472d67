/** Gives up when the platform has ended its session. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { status } = account;
  Object.assign(account, {
    status: ({ action, ...report }: Parameters<typeof status>[0]) =>
      status(action === undefined ? report : { state: "failed", code: "unauthorized" }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "sign-in > a person is asked, and then the account connects",
  says: /Report waiting with an action/,
};
