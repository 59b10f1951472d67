/** Stands between a node and its database, and breaks their connections. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "./ports.ts";

/** The message ReadyForQuery: the server is done with a statement, and its transaction has ended. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5]);

export interface DatabaseWire {
  /** The address of the database by way of the wire. */
  readonly url: string;
  /** How many results were lost. */
  lost(): number;
  /**
   * From now on, every n-th result is lost with its connection: the database has done what the node never hears of. 0:
   * none.
   */
  lose(every: number): void;
  /** From now on, a new connection is answered only after this time. */
  slow(ms: number): void;
  /** Breaks all connections now. New ones can be opened. */
  cut(): void;
  /** Keeps back all results until the returned function is called. */
  hold(): () => void;
  /** Delivers nothing in either direction for a while, and then breaks all connections. */
  silence(forMs: number): Promise<void>;
  close(): Promise<void>;
}

export async function openDatabaseWire(url: string): Promise<DatabaseWire> {
  const address = new URL(url);
  const { hostname, port } = address;
  const sockets = new Set<Socket>();
  const databases = new Set<Socket>();
  let every = 0;
  let results = 0;
  let lost = 0;
  let silent = false;
  let held = false;
  let slowMs = 0;
  const wire = createServer((client) => {
    const database = connect(Number(port), hostname);
    let isReady = false;
    databases.add(database);
    database.on("close", () => databases.delete(database));
    if (held) database.pause();
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      if (silent) socket.pause();
    }
    if (slowMs > 0) {
      client.pause();
      setTimeout(() => client.resume(), slowMs);
    }
    client.on("data", (chunk) => database.write(chunk));
    client.on("close", () => database.destroy());
    database.on("close", () => client.destroy());
    database.on("data", (chunk: Buffer) => {
      const isDone = chunk.includes(ready);
      if (isReady && isDone && every > 0) results += 1;
      if (isReady && isDone && every > 0 && results % every === 0) {
        lost += 1;
        client.destroy();
        return;
      }
      isReady ||= isDone;
      client.write(chunk);
    });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  address.port = String(await freePort());
  wire.listen(Number(address.port), "127.0.0.1");
  await once(wire, "listening");
  return {
    url: address.href,
    lost: () => lost,
    lose(n) {
      every = n;
    },
    cut,
    slow(ms) {
      slowMs = ms;
    },
    hold() {
      held = true;
      for (const database of databases) database.pause();
      return () => {
        held = false;
        for (const database of databases) database.resume();
      };
    },
    async silence(forMs) {
      silent = true;
      for (const socket of sockets) socket.pause();
      await new Promise((resolve) => setTimeout(resolve, forMs));
      silent = false;
      cut();
    },
    async close() {
      cut();
      await new Promise((resolve) => wire.close(resolve));
    },
  };
}
