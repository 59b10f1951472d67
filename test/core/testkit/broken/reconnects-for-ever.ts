/** Keeps its timer for the next attempt. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { status } = account;
  let retries = false;
  Object.assign(account, {
    status(report: Parameters<typeof status>[0]) {
      status(report);
      if (report.state !== "waiting" || retries || account.signal.aborted || report.lastContactAt !== undefined) return;
      retries = true;
      setInterval(() => account.log.trace({}, "the next attempt"), 60_000).unref();
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "leftovers > none after close in an outage",
  says: /close while the platform is unavailable/,
};
