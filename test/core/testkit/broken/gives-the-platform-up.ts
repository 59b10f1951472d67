/** Takes nothing more in after an outage. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ pause }, account) => {
  const { status } = account;
  let failures = 0;
  Object.assign(account, {
    status(report: Parameters<typeof status>[0]) {
      status(report);
      failures = report.state === "waiting" ? failures + 1 : 0;
      if (failures === 2) void pause();
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "recovery > the account reconnects after an outage",
  says: /Reconnect automatically/,
};
