/** Shows nobody that it is typing. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ async typing() {} }));

export const broken: Broken = { channel, caughtBy: "typing > the person sees it", says: /the person does not see it/ };
