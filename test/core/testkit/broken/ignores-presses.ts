/** Takes a press for nothing. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    return parsed.kind === "press" ? null : parsed;
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "presses > a press is received as a press",
  says: /no press was received/,
};
