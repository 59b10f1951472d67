/** Knows an event by its message. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  Object.assign(account, {
    receive: (raw: Parameters<typeof receive>[0], at: Parameters<typeof receive>[1]) =>
      receive(raw, { ...at, id: String((raw as unknown as { readonly message: number }).message) }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "receive > an edit is a separate event after its message",
  says: /have the same id/,
};
