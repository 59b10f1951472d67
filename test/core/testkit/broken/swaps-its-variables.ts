/** Names a variable of the environment where the option belongs. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({}), { environment: { POSTBOX_NAME: "name" } });

export const broken: Broken = {
  channel,
  caughtBy: "options > environment and credentials name options",
  says: /There is no option POSTBOX_NAME, but environment or credentials has it/,
};
