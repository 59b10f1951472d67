/** Reports an outage by a code that nothing explains. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_connection, account) => {
  const { status } = account;
  Object.assign(account, {
    status: (report: Parameters<typeof status>[0]) =>
      status(report.state === "waiting" ? { state: "waiting", code: "post_lost" } : report),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "life > a code that is reported is registered",
  says: /has the code "post_lost", which is not registered/,
};
