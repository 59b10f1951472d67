/** The one connection that waits for notifications. Behind a pooler that hands out connections by transaction, it receives none. */
import pg from "pg";

const reconnectMs = 1_000;
/** Begins a comment: the rest of the line. */
export const schemaMark = "-- of schema ";

export interface Listening {
  end(): Promise<void>;
}

/**
 * Calls the function of a channel with what is sent to it. Connects again by itself. What is sent meanwhile is lost. The server shows the
 * schema behind the statement, so that the check can count the gateways of one schema.
 */
export function listen(
  connection: pg.ClientConfig,
  schema: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
): Listening {
  const statements = Object.keys(channels).map((channel) => `LISTEN ${channel}`);
  const text = `${statements.join("; ")} ${schemaMark}${schema.replaceAll(/[\r\n]/g, " ")}`;
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
    next.on("notification", ({ channel, payload }) => channels[channel]?.(payload ?? ""));
    next.on("error", lost);
    next.on("end", lost);
    next
      .connect()
      .then(() => next.query(text))
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
