/** Sends the first message of a long text. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render }) => ({ render: (reply, address) => render(reply, address).slice(0, 1) }));

export const broken: Broken = {
  channel,
  caughtBy: "render > loses nothing of a long text",
  says: /The parts of a text of 201 characters show 200/,
};
