/** Adds to a message when it is sent. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) => {
    const body = part.body as { readonly text: string };
    return send({ ...part, body: { ...body, text: `${body.text} ` } }, address, signal);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "limits > the platform accepts the longest part",
  says: /rejects a part of 200/,
};
