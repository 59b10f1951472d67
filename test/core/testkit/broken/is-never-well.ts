/** Finds no platform. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ probe: async () => ({ ok: false, detail: "Nothing answers." }) }));

export const broken: Broken = {
  channel,
  caughtBy: "probe > finds the platform",
  says: /The platform is available, but probe returns/,
};
