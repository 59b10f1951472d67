/** Connections to the database: one call is one statement, and one transaction. */
import pg from "pg";
import { onEvent, storeError } from "service-gateway/sdk/store";
import { isAway, isDeadlock, isUncertain, translated } from "./failure.ts";

/** Connections of the pool that all calls share. */
export const maxConnections = 10;
/** Longer than the time between two renewals of a lease. */
const idleMs = 60_000;
/** A node asks again for a database that does not answer. */
export const nodeConnectMs = 3_000;
/** A command asks once. A database that is only slow must not look as if it were away. */
export const commandConnectMs = 15_000;
/** Longer than any statement should take. A server that stops responding is noticed after this time. */
const answerMs = 10_000;
/** The same for the reports of operators, which may read everything. */
const reportMs = 120_000;
/** How long a call is repeated whose result was lost with its connection. */
const repeatMs = 5_000;
const pauseMs = 100;
/** How long `trouble` reports a failure. */
const troubleMs = 30_000;

export type Values = readonly unknown[];

export interface Database {
  /** The schema's name, quoted. */
  readonly schema: string;
  /** How long a lease lasts that is not renewed. */
  readonly leaseSeconds: number;
  /** How to connect without the pool of this process. */
  readonly connection: pg.ClientConfig;
  /** How the connection that listens is made: past a pooler that drops notifications, if the address says how. */
  readonly listening: pg.ClientConfig;
  /** Executes a statement that only reads. `@name` is a table or a function of the schema. */
  query<Row>(sql: string, values?: Values): Promise<readonly Row[]>;
  /** The same for a report that may read everything, and may take its time. */
  report<Row>(sql: string, values?: Values): Promise<readonly Row[]>;
  /**
   * Calls a function of the schema in a transaction of its own. `values` receives `true` if the call repeats one whose
   * result was lost; the function then recognizes what it has done.
   */
  call<Row>(name: string, values: Values | ((again: boolean) => Values)): Promise<readonly Row[]>;
  /**
   * Calls a function several times, in one statement and one transaction. Each row has its call's place in `lists` as
   * `ord`.
   */
  calls<Row>(name: string, lists: readonly Values[]): Promise<readonly Row[]>;
  /** Executes several statements in one transaction. */
  transaction(
    work: (query: (sql: string, values?: Values) => Promise<readonly unknown[]>) => Promise<void>,
  ): Promise<void>;
  /** Why the database could not be reached less than half a minute ago; `undefined` if it could since. */
  trouble(): string | undefined;
  close(): Promise<void>;
}

const int8 = 20;

/** Sums and sequence numbers stay below 2^53. */
const types = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === int8 && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The schema of the tables, unless the address names another one. */
export const defaultSchema = "service_gateway";
/** Parameters of the address that are for this store, not for the driver. */
export const ownParameters: readonly string[] = ["schema", "lease", "listen"];

type Address = Pick<Database, "schema" | "leaseSeconds" | "connection" | "listening">;

/** With the node's name, what the server calls the connections of a gateway or a command. */
export const applicationPrefix = "service-gateway ";
const defaultLeaseSeconds = 30;

/** Splits off what the address says about the store itself. */
export function parseAddress(url: string, applicationName: string, connectMs = nodeConnectMs): Address {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    // The address is not quoted, because it may contain a password.
    throw storeError("database_unusable", {
      reason: "state.url is not an address such as postgres://user:password@host:5432/database",
    });
  }
  const schema = address.searchParams.get("schema") ?? defaultSchema;
  const lease = address.searchParams.get("lease") ?? String(defaultLeaseSeconds);
  if (!/^[1-9]\d{0,3}$/.test(lease))
    throw storeError("database_unusable", { reason: `lease=${lease} of state.url is not a number of seconds` });
  const listen = address.searchParams.get("listen");
  for (const own of ownParameters) address.searchParams.delete(own);
  const common = { application_name: applicationName, connectionTimeoutMillis: connectMs, keepAlive: true };
  return {
    schema: pg.escapeIdentifier(schema),
    leaseSeconds: Number(lease),
    connection: { ...common, connectionString: address.href },
    listening: { ...common, connectionString: listen === null ? address.href : addressAt(address, listen) },
  };
}

/** The same user, password and database at another host and port. */
function addressAt(address: URL, place: string): string {
  const parsed = URL.parse(`postgres://${place}`);
  if (parsed === null || place === "" || parsed.host !== place)
    throw storeError("database_unusable", {
      reason: `listen=${place} of state.url is not a host, or a host and a port`,
    });
  const other = new URL(address);
  other.host = parsed.port === "" ? `${parsed.hostname}:5432` : parsed.host;
  return other.href;
}

/** PostgreSQL cannot store U+0000 in a text. JSON contains it only escaped. */
const storable = (value: unknown): unknown => {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  return Array.isArray(value) ? value.map(storable) : value;
};

export function openDatabase(
  url: string,
  applicationName: string,
  {
    connections = maxConnections,
    connectMs = nodeConnectMs,
  }: { readonly connections?: number; readonly connectMs?: number } = {},
): Database {
  const { schema, leaseSeconds, connection, listening } = parseAddress(url, applicationName, connectMs);
  const pool = new pg.Pool({ ...connection, types, max: connections, idleTimeoutMillis: idleMs });
  // A broken connection also rejects the statement that uses it, and without one the next call opens another
  // connection.
  const source = "the database";
  onEvent(pool, "error", { source, handle() {} });
  onEvent<readonly [pg.PoolClient]>(pool, "connect", {
    source,
    handle: (client) => void onEvent(client, "error", { source, handle() {} }),
  });
  let failed: { readonly at: number; readonly reason: string } | undefined;
  let closing: Promise<void> | undefined;
  const texts = new Map<string, string>();
  const withSchema = (sql: string): string => {
    let text = texts.get(sql);
    if (text === undefined) {
      text = sql.replaceAll(/@(\w+)/g, `${schema}.$1`);
      texts.set(sql, text);
    }
    return text;
  };

  async function connect(): Promise<pg.PoolClient> {
    if (closing !== undefined) throw new Error("The store is closed.");
    return pool.connect();
  }

  async function once<Row>(text: string, values: Values, query_timeout: number): Promise<readonly Row[]> {
    const client = await connect();
    try {
      const { rows } = await client.query({
        text,
        values: storable(values) as unknown[],
        query_timeout,
      } as pg.QueryConfig);
      client.release();
      failed = undefined;
      return rows as readonly Row[];
    } catch (error) {
      // A connection that failed within a statement is not used again.
      client.release(isUncertain(error));
      throw isUncertain(error) ? new LostResult(error) : error;
    }
  }

  async function run<Row>(
    text: string,
    values: (again: boolean) => Values,
    timeoutMs = answerMs,
  ): Promise<readonly Row[]> {
    const until = performance.now() + repeatMs;
    let again = false;
    for (;;) {
      try {
        return await once<Row>(text, values(again), timeoutMs);
      } catch (thrown) {
        const error = thrown instanceof LostResult ? thrown.cause : thrown;
        if (isAway(error)) failed = { at: performance.now(), reason: translated(error).message };
        if (isDeadlock(error) && performance.now() < until) continue;
        again ||= thrown instanceof LostResult;
        // A call that certainly had no effect is left to the caller, who knows whether it is worth a repetition.
        if (!again || !isAway(error) || performance.now() > until) throw translated(error);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  return {
    schema,
    leaseSeconds,
    connection,
    listening,
    query: (sql, values = []) => run(withSchema(sql), () => values),
    report: (sql, values = []) => run(withSchema(sql), () => values, reportMs),
    call(name, values) {
      const list = typeof values === "function" ? values : () => values;
      const places = list(false).map((_, index) => `$${index + 1}`);
      return run(withSchema(`SELECT * FROM @${name}(${places.join(", ")})`), list);
    },
    calls(name, lists) {
      let place = 0;
      const nextPlace = () => {
        place += 1;
        return `$${place}`;
      };
      const selects = lists.map(
        (values, ord) => `SELECT ${ord} AS ord, called.* FROM @${name}(${values.map(nextPlace).join(", ")}) AS called`,
      );
      return run(withSchema(selects.join(" UNION ALL ")), () => lists.flat());
    },
    async transaction(work) {
      const client = await connect().catch((error: unknown) => {
        throw translated(error);
      });
      try {
        await client.query("BEGIN");
        await work(async (sql, values = []) => {
          const result =
            values.length === 0
              ? await client.query(withSchema(sql))
              : await client.query(withSchema(sql), [...values]);
          return result.rows ?? [];
        });
        await client.query("COMMIT");
        client.release();
      } catch (error) {
        client.release(true);
        throw translated(error);
      }
    },
    trouble: () => (failed !== undefined && performance.now() - failed.at < troubleMs ? failed.reason : undefined),
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** The connection broke while a statement ran, so it is unknown whether it was committed. */
class LostResult extends Error {
  constructor(cause: unknown) {
    super("The connection broke while a statement ran.", { cause });
  }
}
