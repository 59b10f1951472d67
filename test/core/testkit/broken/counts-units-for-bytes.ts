/** Cuts by UTF-16 units, on a platform that counts bytes. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: (reply, address) =>
    render(reply, address).map((part) => ({
      ...part,
      chars: Buffer.byteLength((part.body as unknown as { readonly text: string }).text),
    })),
}));

export const broken: Broken = {
  channel,
  caughtBy: "limits > parts keep within maxChars in the platform's unit",
  says: /bytes, but maxChars is 200/,
  fixtures: { unit: "bytes" },
};
