/** A gateway elsewhere, of which only the webhook is seen: it accepts every delivery and keeps it. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { AtEnd } from "../../core/cli/command.ts";

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly url: string | undefined;
  readonly body: string;
}

export async function startWebhook(
  path: string,
  atEnd: AtEnd = onTestFinished,
): Promise<{ readonly url: string; readonly calls: readonly Delivery[] }> {
  const calls: Delivery[] = [];
  const listener = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      calls.push({ headers: request.headers, url: request.url, body });
      response.writeHead(202, { "content-type": "application/json" }).end('{"ok":true,"eventId":"e1"}');
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  atEnd(() => void listener.close());
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}${path}`, calls };
}
