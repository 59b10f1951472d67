/** Cuts texts by UTF-16 units. */
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render(reply, address) {
    const { text, buttons, media } = reply;
    if (media.length > 0) return render(reply, address);
    const pieces = text.match(/[\s\S]{1,200}/g) ?? [];
    return pieces.map((piece) => ({
      kind: "text",
      chars: piece.length,
      body: { text: piece, buttons } as unknown as Json,
    }));
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "render > never splits a character",
  says: /surrogate pair must stay in one part/,
};
