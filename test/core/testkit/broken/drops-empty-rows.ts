/** Leaves out empty rows of buttons, so that an edit never removes the buttons of a message. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({
  render: ({ buttons, ...reply }, address, about) =>
    render({ ...reply, buttons: buttons.filter((row) => row.length > 0) }, address, about),
}));

export const broken: Broken = {
  channel,
  caughtBy: "render > an empty row of buttons, which removes those of a message, differs from none",
  says: /\[\[\]\] removes them/,
};
