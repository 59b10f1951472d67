/** Keeps what a part contains in its memory. */
import type { Json } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ render, send }) => {
  const bodies = new Map<string, Json>();
  const textOf = (body: Json) => (body as { readonly text: string }).text;
  return {
    render: (reply, address) =>
      render(reply, address).map((part) => {
        bodies.set(JSON.stringify(part.body), part.body);
        return part;
      }),
    async send(part, address, signal) {
      const body = bodies.get(JSON.stringify(part.body));
      // Errors of the gateway itself come without a render of this connection.
      if (body === undefined)
        throw new ChannelError("platform_error", { detail: `The part ${textOf(part.body).slice(0, 20)} is not known` });
      return await send({ ...part, body }, address, signal);
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "recovery > a process killed before the platform's acceptance loses nothing",
  says: /Another process must be able to send a part/,
};
