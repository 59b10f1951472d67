/** Says that all is well, without a look. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ probe: async () => ({ ok: true, detail: "All is well." }) }));

export const broken: Broken = {
  channel,
  caughtBy: "probe > reports an unavailable platform",
  says: /The platform is unavailable, but probe returns/,
};
