import { rm } from "node:fs/promises";
import { afterAll } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { storeContract } from "../../../core/testkit/store-contract.ts";
import { newDirectory } from "./directory.ts";

const directories = new Map<Store, string>();
afterAll(() =>
  Promise.all([...directories.values()].map((directory) => rm(directory, { recursive: true, force: true }))),
);

storeContract({
  name: "the embedded store",
  async open(options) {
    const directory = await newDirectory();
    // With a thread, as in a gateway.
    const store = await openSqliteStore({ directory, writerThread: true, ...options });
    directories.set(store, directory);
    return store;
  },
  async reopen(store, options) {
    const directory = directories.get(store);
    if (directory === undefined) throw new Error("This store was not opened here.");
    return openSqliteStore({ directory, writerThread: true, ...options });
  },
});
