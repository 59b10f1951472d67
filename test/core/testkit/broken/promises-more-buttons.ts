/** Declares eight buttons, and shows four. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: ({ buttons, ...reply }, address, about) =>
    render({ ...reply, buttons: buttons.length === 0 ? [] : [buttons.flat().slice(0, 4)] }, address, about),
}));

export const broken: Broken = {
  channel,
  caughtBy: "limits > the platform shows as many buttons as are declared",
  says: /no part contains the button/,
};
