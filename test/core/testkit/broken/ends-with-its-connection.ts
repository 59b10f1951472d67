/** Asks for nothing more once a connection was broken off. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ pause }, account) => {
  const { status } = account;
  Object.assign(account, {
    status(report: Parameters<typeof status>[0]) {
      status(report);
      if (report.state === "waiting") void pause();
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "recovery > the account reconnects after a reset",
  says: /takes a new one, but no later message was received/,
};
