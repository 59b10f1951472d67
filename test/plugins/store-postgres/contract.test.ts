import { storeContract } from "service-gateway/testkit";
import type { Store } from "../../../core/state/index.ts";
import postgres from "../../../plugins/store-postgres/index.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const urls = new WeakMap<Store, string>();

async function open(url: string, now: () => number): Promise<Store> {
  const store = await postgres.open({ url, now, owner: true, node: "one" });
  urls.set(store, url);
  return store;
}

storeContract({
  name: "the store in PostgreSQL",
  open: ({ now }) => open(server.newUrl(), now),
  reopen: (store, { now }) => open(urls.get(store) ?? "", now),
});
