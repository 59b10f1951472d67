/** Ports of this machine. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * Below the ports that the system gives to outgoing connections and to servers that ask for any: none of them can take
 * it meanwhile.
 */
const range = { from: 12_000, to: 32_000 };

/** One that nothing listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(range.from, range.to);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

export const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
