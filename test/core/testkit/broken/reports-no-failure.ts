/** Reports a message that did not arrive as one that did. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { sent } = account;
  Object.assign(account, { sent: (messageId: string) => sent(messageId, "delivered") });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "reports > a failure after the receipt is reported with its code",
  says: /The platform reported a failure, and account\.sent was called with "delivered"/,
};
