/** Reports about messages by ids that no receipt had. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { sent } = account;
  Object.assign(account, {
    sent: (messageId: string, report: Parameters<typeof sent>[1]) =>
      sent(report === "delivered" ? `status-${messageId}` : messageId, report),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "reports > a delivered message is reported",
  says: /account\.sent takes an id of the receipt/,
};
