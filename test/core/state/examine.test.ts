import { copyFileSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { examineFile, tablesOf } from "../../../core/state/sqlite/database/examine.ts";
import { knownVersion } from "../../../core/state/sqlite/database/migrations.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { newDirectory } from "./directory.ts";

test("the state check expects the same tables that a new database has", async () => {
  const directory = await newDirectory();
  await (await openSqliteStore({ directory, now: () => 0 })).close();
  const db = new DatabaseSync(join(directory, "state.db"));
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  db.close();
  expect(tablesOf(knownVersion).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

test("a file cut short by a kill during a checkpoint is not damaged if the log contains the rest", async () => {
  const directory = await newDirectory();
  const store = await openSqliteStore({ directory, now: () => 0 });
  await store.close();
  const [file, log] = [join(directory, "state.db"), join(directory, "state.db-wal")];
  const before = readFileSync(file).length;
  const again = await openSqliteStore({ directory, now: () => 0 });
  await again.set("n", "k", "x".repeat(100_000));
  copyFileSync(log, `${log}.copy`);
  await again.close();
  const grown = readFileSync(file).length;
  expect(grown).toBeGreaterThan(before);
  // The first pages are folded in, the file has not grown yet.
  truncateSync(file, before);
  expect(() => examineFile(directory)).toThrow(expect.objectContaining({ code: "state_damaged" }));
  copyFileSync(`${log}.copy`, log);
  examineFile(directory);
  const healed = await openSqliteStore({ directory, now: () => 0 });
  expect(await healed.get("n", "k")).toHaveLength(100_000);
  await healed.close();
});

test("the commit counter of the directory matches the database, also across several stores", async () => {
  const directory = await newDirectory();
  const one = await openSqliteStore({ directory, now: () => 0 });
  const two = await openSqliteStore({ directory, now: () => 0 });
  for (let n = 0; n < 5; n++) {
    await one.set("n", `one${n}`, 1, { durable: true });
    await two.set("n", `two${n}`, 1, { durable: true });
    // Not flushed, so not counted.
    await two.set("n", "other", 1);
  }
  await one.close();
  await two.close();
  const known = JSON.parse(readFileSync(join(directory, "state.json"), "utf8")) as { readonly commits: string };
  const db = new DatabaseSync(join(directory, "state.db"));
  const held = Number(db.prepare("SELECT value FROM numbers WHERE name = 'commits'").get()?.value);
  db.close();
  expect(held).toBe(10);
  expect(Number(known.commits)).toBeLessThanOrEqual(held);
  await (await openSqliteStore({ directory, now: () => 0 })).close();
  // A memory that is broken says nothing, and keeps nobody from starting.
  writeSync(openSync(join(directory, "state.json"), "r+"), "garbage", 0);
  await (await openSqliteStore({ directory, now: () => 0 })).close();
});
