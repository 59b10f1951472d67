/** Stands for the embedded store, in a process that will be killed at a labelled point. */
import { openSqliteStore as open, type SqliteStoreOptions } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { crashingStore } from "./crashing-store.ts";

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return crashingStore(await open(options));
}
