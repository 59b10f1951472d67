/** Gives each event an id of its own, in place of the platform's. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  Object.assign(account, {
    receive: (raw: Parameters<typeof receive>[0], at: Parameters<typeof receive>[1]) =>
      receive(raw, { ...at, id: account.newId() }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "receive > a repetition has the id of the first",
  says: /has the ids id-1 and id-2/,
};
