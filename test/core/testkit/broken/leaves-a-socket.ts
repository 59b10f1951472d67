/** Keeps a listener that no close stops. */
import { once } from "node:events";
import { createServer } from "node:net";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ start }) => ({
  async start() {
    await start();
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // Only so that this process ends; the rule looks before.
    realTimeout(() => server.close(), 8_000).unref();
  },
}));

const realTimeout = globalThis.setTimeout;

export const broken: Broken = { channel, caughtBy: "life > close leaves no socket and no timer", says: /open handles \(.*TCP/ };
