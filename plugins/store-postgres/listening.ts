/** The one connection that waits for notifications. Behind a pooler that hands out connections by transaction, it receives none. */
import pg from "pg";
import { wakeChannel } from "./schema/lease.ts";

const reconnectMs = 1_000;

export interface Listening {
  end(): Promise<void>;
}

/** Connects again by itself. What is sent meanwhile is lost. */
export function listen(connection: pg.ClientConfig, onLane: (lane: string) => void): Listening {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  function connect(): void {
    const next = new pg.Client(connection);
    client = next;
    const lost = () => {
      if (client !== next || ended) return;
      client = undefined;
      timer = setTimeout(connect, reconnectMs);
      timer.unref();
      next.end().catch(() => {});
    };
    next.on("notification", ({ payload }) => onLane(payload ?? ""));
    next.on("error", lost);
    next.on("end", lost);
    next
      .connect()
      .then(() => next.query(`LISTEN ${wakeChannel}`))
      .catch(lost);
  }

  connect();
  return {
    async end() {
      ended = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
