/** Shortens what a button brings back. */
import { capabilities, createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const change: Parameters<typeof createPostbox>[0] = ({ render }) => ({
  render: (reply, address) =>
    render(
      { ...reply, buttons: reply.buttons.map((row) => row.map((one) => ({ ...one, value: one.value.slice(0, 20) }))) },
      address,
    ),
});

const channel = createPostbox(change, { capabilities: { ...capabilities, buttons: true } });

export const broken: Broken = {
  channel,
  caughtBy: "limits > a button keeps a value of 64 bytes",
  says: /is changed in the part/,
};
