/** Shows nobody that it is typing. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({ async typing() {} }));

export const broken: Broken = { channel, caughtBy: "typing > is seen", says: /the person does not see it/ };
