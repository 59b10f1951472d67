/** Hands the value of a button over as if the person had written it. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const parsed = parse(raw);
    if (parsed === null || parsed === undefined || "silent" in parsed || parsed.kind !== "press") return parsed;
    return { ...parsed, text: parsed.text.replace("callback_data: ", "") };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "presses > a press is received as a press",
  says: /"callback_data: agree-value"/,
};
