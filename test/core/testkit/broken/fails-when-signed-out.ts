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
  alsoCaughtBy: [
    "sign-in > a person is asked once, also over a restart",
    "sign-in > a person is asked again if the platform ends the session",
    "sign-in > codes and secrets are in no log, status or event",
  ],
  says: /Report waiting with an action/,
};
