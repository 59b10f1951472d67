/** Keeps a listener until the first message, also after its close. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const realTimeout = globalThis.setTimeout;

const channel = createPostbox(({ start }, account) => {
  const { receive } = account;
  let server: Server | undefined;
  Object.assign(account, {
    receive(...event: Parameters<typeof receive>) {
      server?.close();
      return receive(...event);
    },
  });
  return {
    async start() {
      await start();
      if (account.signal.aborted) return;
      server = createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      // Only so that this process ends; the rule looks before.
      realTimeout(() => server?.close(), 8_000).unref();
    },
  };
});

export const broken: Broken = { channel, caughtBy: "leftovers > none after close", says: /open handles \(.*TCP/ };
