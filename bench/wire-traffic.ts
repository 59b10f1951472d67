/** Counts what passes between a store and its PostgreSQL server. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

export interface Traffic {
  readonly port: number;
  /** Results of the server, bytes to it and bytes from it since the last call. */
  take(): { readonly results: number; readonly sent: number; readonly received: number };
  close(): void;
}

/** Stands between the store and the server, and counts. */
export async function countTraffic(url: string): Promise<Traffic> {
  const ready = Buffer.from([0x5a, 0, 0, 0, 5]);
  let counts = { results: 0, sent: 0, received: 0 };
  const wire = createServer((client) => {
    const database = connect(Number(new URL(url).port), "127.0.0.1");
    client.on("data", (chunk: Buffer) => {
      counts.sent += chunk.length;
      database.write(chunk);
    });
    database.on("data", (chunk: Buffer) => {
      counts.received += chunk.length;
      if (chunk.includes(ready)) counts.results += 1;
      client.write(chunk);
    });
    client.on("close", () => database.destroy());
    for (const socket of [client, database]) socket.on("error", () => {});
  });
  await once(wire.listen(0, "127.0.0.1"), "listening");
  return {
    port: (wire.address() as AddressInfo).port,
    take() {
      const taken = counts;
      counts = { results: 0, sent: 0, received: 0 };
      return taken;
    },
    close: () => wire.close(),
  };
}
