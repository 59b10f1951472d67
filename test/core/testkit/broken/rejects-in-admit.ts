/** Rejects where it is not to wait any more. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({
  admit: (_part, _address, signal) => (signal.aborted ? Promise.reject(new Error("aborted")) : undefined),
}));

export const broken: Broken = {
  channel,
  caughtBy: "admit > admits a part, and ends at an abort",
  says: /It must never reject/,
};
