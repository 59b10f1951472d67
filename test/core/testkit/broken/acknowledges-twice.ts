/** Answers a press, and answers it again. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  const { url, token } = account.options;
  Object.assign(account, {
    async receive(...event: Parameters<typeof receive>) {
      const isPress = (event[0] as { readonly kind?: string }).kind === "press";
      if (isPress) await fetch(`${url}/acknowledge?token=${token}`, { method: "POST" });
      return await receive(...event);
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "presses > a press is acknowledged once",
  says: /acknowledged it 2 times/,
};
