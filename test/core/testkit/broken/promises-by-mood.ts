/** Declares buttons at two of four calls. */
import { capabilities, createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

let calls = 0;

export const broken: Broken = {
  channel: createPostbox(() => ({}), {
    capabilities: () => {
      calls += 1;
      return { ...capabilities, buttons: (calls & 2) !== 0 };
    },
  }),
  caughtBy: "declaration > the capabilities depend on the options alone",
  says: /It must depend on the options only/,
};
