/** Submits an event only when the platform has named its sender. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  Object.assign(account, {
    async receive(...[raw, at]: Parameters<typeof receive>) {
      const { from } = raw as { readonly from: { readonly name?: string } };
      if (from.name === undefined) await new Promise((resolve) => account.signal.addEventListener("abort", resolve));
      return await receive(raw, at);
    },
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "receive > messages arrive, in order, although names cannot be looked up",
  says: /\["first","second","third"\] was not received/,
};
