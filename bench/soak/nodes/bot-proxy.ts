/**
 * What stands between the platform and the nodes of a bot in webhook mode: it hands each update to the next node that
 * answers.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A node that is stopped accepts connections, and does not answer. */
const answerMs = 3_000;
const secretHeader = "x-telegram-bot-api-secret-token";

export interface BotProxy {
  readonly url: string;
  /** The number of updates that were handed to a node, and to a second one because the first did not accept them. */
  counts(): { readonly updates: number; readonly repeated: number };
  close(): void;
}

/** `ports` are those of the nodes' listeners. */
export async function openBotProxy(ports: () => readonly number[]): Promise<BotProxy> {
  let updates = 0;
  let repeated = 0;

  async function accepts(port: number, path: string, secret: string, body: string): Promise<boolean> {
    const headers = { "content-type": "application/json", [secretHeader]: secret };
    const signal = AbortSignal.timeout(answerMs);
    return await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body, signal })
      .then(({ ok }) => ok)
      .catch(() => false);
  }

  const server = createServer(async (request, answer) => {
    const body = await text(request);
    const all = ports();
    updates += 1;
    const first = updates;
    for (let tried = 0; tried < all.length; tried += 1) {
      const port = all[(first + tried) % all.length] ?? 0;
      if (await accepts(port, request.url ?? "/", String(request.headers[secretHeader]), body))
        return answer.writeHead(200).end();
      repeated += 1;
    }
    return answer.writeHead(502).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ updates, repeated }),
    close: () => void server.close().closeAllConnections(),
  };
}
