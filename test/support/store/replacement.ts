/**
 * Stands for `core/state/sqlite/index.ts` in a run with `SERVICE_TEST_STORE`: what opens the embedded store of a
 * directory opens another store instead, one for each directory.
 *
 * `SERVICE_TEST_STORE=postgres SERVICE_TEST_STORE_URL='postgres://user@127.0.0.1/test?schema={name}' vitest run
 * test/e2e` runs these tests on `plugins/store-postgres`. `SERVICE_TEST_STORE=elsewhere` uses SQLite in another folder,
 * which shows what depends on the place of `state.db`.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoreDefinition } from "../../../core/sdk/store.ts";
import { prepareFile } from "../../../core/state/directory.ts";
import type { openSqliteStore as Open, SqliteStoreOptions, StoreReader } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { callsUnderWay } from "../../../core/testkit/host/played-clock.ts";

export type { SqliteStoreOptions, StoreReader };

/** By this name, the embedded store is not replaced. */
const embedded = "../../../core/state/sqlite/index.ts?embedded";

const { SERVICE_TEST_STORE: id = "", SERVICE_TEST_STORE_URL: template = "" } = process.env;

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, now, owner = false } = options;
  const name = nameOf(directory);
  if (id === "elsewhere") {
    const real = (await import(/* @vite-ignore */ embedded)) as { readonly openSqliteStore: typeof Open };
    return await real.openSqliteStore({ ...options, directory: join(directory, "elsewhere") });
  }
  const loaded = (await import(`../../../plugins/store-${id}/index.ts`)) as {
    readonly default: { readonly store: StoreDefinition };
  };
  return observed(
    await loaded.default.store.open({ url: template.replace("{name}", name), now, owner, node: `of-${name}` }),
  );
}

/** Longer than a call takes that does not wait for something, as for another turn of its session. */
const longestCallMs = 1_000;

/**
 * The clock of a test host stands still while the store answers, as with the embedded store, which answers within a
 * turn of the loop.
 */
function observed<T extends object>(target: T): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === "nodes" && typeof value === "object" && value !== null) return observed(value);
      return typeof value !== "function"
        ? value
        : (...values: readonly unknown[]) => noted(Reflect.apply(value, target, values));
    },
  });
}

function noted(answer: unknown): unknown {
  if (!(answer instanceof Promise)) return answer;
  const ended = Promise.race([answer, sleep(longestCallMs, undefined, { ref: false })]).catch(() => {});
  callsUnderWay.add(ended);
  void ended.then(() => callsUnderWay.delete(ended));
  return answer;
}

export const openSqliteReader = (options: SqliteStoreOptions): Promise<StoreReader> => openSqliteStore(options);

/**
 * The name of a directory's data. It is in a database in the place of the embedded one, so that a copy of the directory
 * means the same data, and what examines or rewrites that file finds a sound one.
 */
function nameOf(directory: string): string {
  const db = new DatabaseSync(prepareFile(directory, "state.db"), { timeout: 5_000 });
  try {
    db.exec("CREATE TABLE IF NOT EXISTS data (name TEXT)");
    db.prepare("INSERT INTO data SELECT ? WHERE NOT EXISTS (SELECT 1 FROM data)").run(
      `test_${randomBytes(6).toString("hex")}`,
    );
    return String(db.prepare("SELECT name FROM data").get()?.name);
  } finally {
    db.close();
  }
}
