/**
 * The one connection that waits for notifications. Behind a pooler that hands out connections by transaction, it
 * receives none.
 */
import pg from "pg";
import { onEvent, onMessage } from "service-gateway/sdk/store";

const reconnectMs = 1_000;
/** Begins a comment: the rest of the line. */
export const schemaMark = "-- of schema ";

export interface Listening {
  end(): Promise<void>;
}

/** Every role of the database may send notifications, whatever its rights, so their payloads are not read here. */
const channelOf = (notification: unknown): string | undefined => {
  const { channel } = (notification ?? {}) as { readonly channel?: unknown };
  return typeof channel === "string" ? channel : undefined;
};

/**
 * Calls the function of a channel when something is sent to it. Connects again by itself. What is sent meanwhile is
 * lost. The server shows the schema behind the statement, so that the check can count the gateways of one schema.
 */
export function listen(
  connection: pg.ClientConfig,
  schema: string,
  channels: ReadonlyMap<string, () => void>,
): Listening {
  const source = "the database";
  const statements = [...channels.keys()].map((channel) => `LISTEN ${channel}`);
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
    onMessage(next, "notification", { source, check: channelOf, handle: (channel) => channels.get(channel)?.() });
    onEvent(next, "error", { source, handle: lost });
    onEvent(next, "end", { source, handle: lost });
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
