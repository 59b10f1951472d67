/** Declares messages for one person in answer to commands of the platform, and does not say which command it was. */
import { capabilities, createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(
  ({ parse }) => ({
    parse(raw) {
      const parsed = parse(raw);
      if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
      const { interaction: _, ...rest } = parsed;
      return rest;
    },
  }),
  { capabilities: { ...capabilities, ephemeral: "interactions" } },
);

export const broken: Broken = {
  channel,
  caughtBy: "ephemeral > only the sender sees a part that is for them alone",
  says: /parse sets no interaction/,
};
