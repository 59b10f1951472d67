/** Cuts between words, however long a word is. */
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

function pieces(text: string): readonly string[] {
  const found: string[] = [];
  for (const word of text.split(/(?<=\s)/)) {
    const last = found.at(-1);
    if (last === undefined || last.length + word.length > 200) found.push(word);
    else found[found.length - 1] = last + word;
  }
  return found.filter((piece) => piece !== "");
}

const channel = createPostbox(({ render }) => ({
  render(reply, address) {
    const { text, buttons, media } = reply;
    if (media.length > 0) return render(reply, address);
    return pieces(text).map((piece) => ({
      kind: "text",
      chars: piece.length,
      body: { text: piece, buttons } as unknown as Json,
    }));
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "render > keeps within maxChars",
  says: /becomes a part of 201, but maxChars is 200/,
};
