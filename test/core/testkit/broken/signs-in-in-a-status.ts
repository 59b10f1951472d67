/** Writes the code into its status, so that it is logged. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { status } = account;
  Object.assign(account, {
    status: (report: Parameters<typeof status>[0]) =>
      status({ ...report, ...(report.action?.qr !== undefined && { detail: `Scan ${report.action.qr}` }) }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "sign-in > codes and secrets are in no log, status or event",
  says: /is in the log or in a status/,
};
