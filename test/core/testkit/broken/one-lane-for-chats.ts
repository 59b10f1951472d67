/** Puts all chats in one lane. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox((_, account) => {
  const { receive } = account;
  Object.assign(account, {
    receive: (raw: Parameters<typeof receive>[0], at: { readonly id: string; readonly lane: string }) =>
      receive(raw, { ...at, lane: `postbox:default:all:${at.lane.split(":")[3]}` }),
  });
  return {};
});

export const broken: Broken = {
  channel,
  caughtBy: "groups > a group has a lane of its own",
  says: /have the same lane/,
};
