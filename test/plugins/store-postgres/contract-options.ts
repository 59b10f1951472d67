/** How the contract of stores opens the PostgreSQL store on a server. */
import type { StoreContractOptions } from "service-gateway/testkit";
import type { Store } from "../../../core/state/index.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import type { PostgresServer } from "../../support/postgres-server.ts";

interface Opened {
  readonly url: string;
  readonly node: string;
}

/** Leaves the schema as a new one is: without rows, and with the first numbers to come. */
const empty = `DO $do$
DECLARE made record;
BEGIN
  FOR made IN SELECT oid::regclass AS name, relkind FROM pg_class
    WHERE relnamespace = '$schema'::regnamespace AND relkind IN ('r', 'S') AND relname <> 'about' LOOP
    IF made.relkind = 'r' THEN EXECUTE 'DELETE FROM ' || made.name;
    ELSE PERFORM setval(made.name, 1, false);
    END IF;
  END LOOP;
END $do$`;

/** `through` changes the address that the store gets, for example to that of a pooler. */
export function contractOptions(
  server: PostgresServer,
  through: (url: string) => string = (url) => url,
): Omit<StoreContractOptions, "name"> {
  const opened = new WeakMap<Store, Opened>();
  const openedAs = (store: Store): Opened => {
    const known = opened.get(store);
    if (known === undefined) throw new Error("The store was opened by another test.");
    return known;
  };
  /**
   * The schemas so far, each with its number of open stores. A test gets one that is in no use: the server makes a new
   * one five times as slowly.
   */
  const schemas = new Map<string, number>();
  const countOpen = (url: string, more: number) => void schemas.set(url, (schemas.get(url) ?? 0) + more);
  const emptyUrl = async (): Promise<string> => {
    const [url] = [...schemas].find(([, count]) => count === 0) ?? [];
    if (url === undefined) return server.newUrl();
    await server.query(url, empty);
    return url;
  };
  const open = async (url: string, now: () => number, node = "one"): Promise<Store> => {
    const inner = await postgres.open({ url: through(url), now, owner: true, node });
    countOpen(url, 1);
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= inner.close().finally(() => countOpen(url, -1));
      return closing;
    };
    const store = { ...inner, close };
    opened.set(store, { url, node });
    return store;
  };
  return {
    open: async ({ now }) => await open(await emptyUrl(), now),
    reopen: (store, { now }) => open(openedAs(store).url, now),
    check: async (store) => {
      const { url, node } = openedAs(store);
      return (await postgres.check?.({ url: through(url), now: Date.now, owner: false, node })) ?? [];
    },
    writers: {
      another: (store, { now, node }) => open(openedAs(store).url, now, node),
      async endLease(store) {
        const { url, node } = openedAs(store);
        await server.query(url, `UPDATE $schema.nodes SET lease_until = clock_timestamp() WHERE node = '${node}'`);
      },
      // What the store calls every ten seconds.
      async look(store) {
        const { url, node } = openedAs(store);
        await server.query(
          url,
          `SELECT $schema.renew_lease(node, incarnation, 30, '{}') FROM $schema.nodes WHERE node = '${node}'`,
        );
      },
    },
  };
}
