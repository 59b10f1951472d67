/** How the contract of stores opens the PostgreSQL store on a server. */
import type { StoreContractOptions } from "service-gateway/testkit";
import type { Store } from "../../../core/state/index.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import type { PostgresServer } from "../../support/postgres-server.ts";

interface Opened {
  readonly url: string;
  readonly node: string;
}

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
  const open = async (url: string, now: () => number, node = "one"): Promise<Store> => {
    const store = await postgres.open({ url: through(url), now, owner: true, node });
    opened.set(store, { url, node });
    return store;
  };
  return {
    open: ({ now }) => open(server.newUrl(), now),
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
        await server.query(url, `SELECT $schema.renew_lease(node, incarnation, 30, '{}') FROM $schema.nodes WHERE node = '${node}'`);
      },
    },
  };
}
