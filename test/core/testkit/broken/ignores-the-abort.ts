/** Makes its requests without the signal. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const never = new AbortController().signal;

const channel = createPostbox(({ send }) => ({ send: (part, address) => send(part, address, never) }));

export const broken: Broken = {
  channel,
  caughtBy: "send > an abort ends the send while the platform does not respond",
  says: /Pass the signal to the request/,
};
