/** Has a function under another name than the contract's. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ fetchMedai: async () => ({ path: "", mimeType: "", size: 0 }) }) as object);

export const broken: Broken = {
  channel,
  caughtBy: "declaration > the gateway calls each function of the connection",
  says: /has a function fetchMedai, which the gateway does not call/,
};
