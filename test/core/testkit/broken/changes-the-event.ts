/** Tidies the event up while it reads it. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    if (typeof raw === "object" && raw !== null && "text" in raw) Object.assign(raw, { text: String(raw.text).trim() });
    return parse(raw);
  },
}));

export const broken: Broken = { channel, caughtBy: "parse > is pure", says: /parse modifies the event/ };
