/** Merges the event into defaults, key by key. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ parse }) => ({
  parse(raw) {
    const merged: Record<string, Record<string, unknown>> = {};
    for (const [key, value] of Object.entries(typeof raw === "object" && raw !== null ? raw : {})) {
      for (const [inner, one] of Object.entries(typeof value === "object" && value !== null ? value : {})) {
        merged[key] ??= {};
        (merged[key] as Record<string, unknown>)[inner] = one;
      }
    }
    return parse(raw);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "parse > leaves the prototypes of objects alone",
  says: /changes the prototype of all objects/,
};
