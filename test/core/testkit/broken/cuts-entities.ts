/** Escapes a text, and cuts it after that. */
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render(reply, address) {
    const { text, buttons, media } = reply;
    if (media.length > 0) return render(reply, address);
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const pieces = escaped.match(/[\s\S]{1,100}/gu) ?? [];
    return pieces.map((piece) => ({
      kind: "text",
      chars: piece.length,
      body: { text: piece, buttons } as unknown as Json,
    }));
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "render > never splits an entity",
  says: /Split the text before you escape/,
};
