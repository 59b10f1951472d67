/** Sends again, when it starts, what it sent last: to be sure. */
import type { Address, Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import { capabilities, createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

// On a platform without keys; there the repetition is seen.
const { repeats: _repeats, ...withoutKeys } = capabilities;

const change: Parameters<typeof createPostbox>[0] = ({ start, send }, { store }) => ({
  async start() {
    await start();
    const last = await store.get("last");
    if (last !== null) await send(...(last as unknown as [Part, Address]), new AbortController().signal);
  },
  async send({ key: _key, ...part }, address, signal) {
    await store.set("last", [part, address] as unknown as Json);
    return await send(part, address, signal);
  },
});

const channel = createPostbox(change, { capabilities: withoutKeys });

export const broken: Broken = {
  channel,
  caughtBy: "recovery > a process killed after the platform's acceptance repeats at most once",
  says: /At most two are allowed/,
};
