/**
 * Strangers by the hundred thousand: each request with another token, path, query and address, pipelined over a few
 * sockets.
 */
import { connect } from "node:net";

export interface Flood {
  readonly port: number;
  readonly first: number;
  readonly count: number;
  readonly sockets?: number;
  /** Requests that are on their way at the same time on each socket. */
  readonly depth?: number;
}

/** The n-th stranger: behind a proxy that says who it is. Nothing of it was there before. */
function strangerRequest(index: number): string {
  const address = `${11 + ((index >>> 16) & 127)}.${(index >>> 8) & 255}.${index & 255}.${1 + (index % 7)}`;
  const from =
    index % 5 === 0 ? `2001:db8:${(index >>> 16).toString(16)}:${(index & 0xffff).toString(16)}::1` : address;
  const path =
    index % 3 === 0 ? `/elsewhere/${index}` : `/hooks/name-${index}${index % 4 === 0 ? `?q${index}=${index}` : ""}`;
  const credential = index % 2 === 0 ? `Authorization: Bearer guess-${index}` : `X-Service-Token: guess-${index}`;
  return (
    `POST ${path} HTTP/1.1\r\nHost: localhost:${index % 65_536}\r\nX-Forwarded-For: ` +
    `${from}\r\nX-Header-${index % 1_000}: ${index}\r\n${credential}\r\nContent-Length: 2\r\n\r\n{}`
  );
}

/** Resolves with how many answers there were of each status, once all are answered. */
export async function flood({
  port,
  first,
  count,
  sockets = 4,
  depth = 64,
}: Flood): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {};
  let next = first;
  const end = first + count;
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      let rest = "";
      let waiting = 0;
      const send = () => {
        let batch = "";
        for (; waiting < depth && next < end; waiting += 1) batch += strangerRequest(next++);
        if (batch !== "") socket.write(batch, "latin1");
        else if (waiting === 0) socket.destroy();
      };
      socket.setEncoding("latin1").on("data", (chunk: string) => {
        rest += chunk;
        let cut = 0;
        for (const match of rest.matchAll(/HTTP\/1\.1 (\d{3})[\s\S]*?\r\n\r\n(\{[^}]*\})/g)) {
          const status = match[1] ?? "";
          statuses[status] = (statuses[status] ?? 0) + 1;
          waiting -= 1;
          cut = match.index + match[0].length;
        }
        rest = rest.slice(cut);
        if (waiting <= depth / 2) send();
      });
      socket.on("error", reject);
      socket.on("close", () =>
        waiting === 0 ? resolve() : reject(new Error("a socket was closed before all was answered")),
      );
      socket.on("connect", send);
    });
  await Promise.all(Array.from({ length: sockets }, run));
  return statuses;
}
