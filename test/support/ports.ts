/** Ports of this machine. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setImmediate as nextLoop } from "node:timers/promises";

/**
 * Below the ports that the system gives to outgoing connections and to servers that ask for any: none of them can take
 * it meanwhile. Each process of the tests has a hundred of its own, because between the look and the use of a port
 * another test could find it free, too.
 */
const range = { from: 12_000, to: 32_000, ofAProcess: 100 };

let given = 0;
const reserved = new Set<number>();

/** A port for a server that goes away and comes back: meanwhile nothing else in this process is given it. */
export interface ReservedPort {
  readonly port: number;
  release(): void;
}

export async function reservePort(): Promise<ReservedPort> {
  const port = await freePort();
  reserved.add(port);
  return { port, release: () => void reserved.delete(port) };
}

/** One that nothing listens on, and that this process has not been given lately. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort();
    if (reserved.has(port)) continue;
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    // Its handle is gone a turn of the loop later; until then, it would hide a server that a test leaves open.
    await nextLoop();
    await nextLoop();
    return port;
  }
}

function nextPort(): number {
  const processes = (range.to - range.from) / range.ofAProcess;
  const first = range.from + (process.pid % processes) * range.ofAProcess;
  given += 1;
  return first + (given % range.ofAProcess);
}

export const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
