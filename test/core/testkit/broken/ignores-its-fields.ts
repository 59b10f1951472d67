/** Declares fields of the platform's own, and leaves them out. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: ({ platform: _, ...reply }, address, about) => render(reply, address, about),
}));

export const broken: Broken = {
  channel,
  caughtBy: "platformFields > render uses the platform's own fields",
  says: /has the same parts as one without\. Read reply\.platform in render/,
};
