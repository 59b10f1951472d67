/** Puts all threads of a chat in one lane. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  Object.assign(account, {
    receive: (raw: Parameters<typeof receive>[0], at: { readonly id: string; readonly lane: string }) =>
      receive(raw, { ...at, lane: at.lane.split(":").slice(0, 3).join(":") }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "receive > a thread has a lane of its own",
  says: /A thread has the same lane as another place/,
};
