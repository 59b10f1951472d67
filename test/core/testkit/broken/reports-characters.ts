/** Reports characters, on a platform that counts UTF-16 units. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: (reply, address) =>
    render(reply, address).map((part) => ({
      ...part,
      chars: [...(part.body as unknown as { readonly text: string }).text].length,
    })),
}));

export const broken: Broken = {
  channel,
  caughtBy: "limits > chars is counted in the platform's unit",
  says: /has chars/,
};
