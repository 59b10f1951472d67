/** Sends the text, and not the file. */
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send(part, address, signal) {
    const { file: _, ...body } = part.body as Record<string, unknown>;
    return send({ ...part, body: body as Json }, address, signal);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "files > a file of the bot arrives",
  says: /the person sees no file/,
};
