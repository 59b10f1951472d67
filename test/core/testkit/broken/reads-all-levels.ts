/** Looks at the whole event, however deep it is. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

/** How deep an event is: a call for each level. */
function depthOf(value: unknown): number {
  return typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}

const channel = createPostbox(({ parse }) => ({ parse: (raw) => (depthOf(raw) > 100 ? undefined : parse(raw)) }));

export const broken: Broken = {
  channel,
  caughtBy: "parse > accepts events of any depth and length",
  says: /nested 20,000 levels deep/,
};
