/** Nodes of two versions on one schema: an upgrade goes node by node, or is refused with a sentence. */
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { newEvent, settle, start, take } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { migrate, migrations } from "../../../plugins/store-postgres/migrations.ts";
import { openDatabase } from "../../../plugins/store-postgres/pool.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const opened: Store[] = [];

async function open(url: string, node: string): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner: true, node });
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** Brings a schema to the version that a program with these migrations has. */
async function migrateTo(url: string, steps: typeof migrations): Promise<void> {
  const database = openDatabase(url, "test");
  try {
    await migrate(database, steps);
  } finally {
    await database.close();
  }
}

/** A later version: its only step leaves out what earlier ones need. */
const breaking = [...migrations, { sql: "ALTER TABLE units ADD COLUMN added text", oldest: migrations.length + 1 }];
const additive = [...migrations, { sql: "ALTER TABLE units ADD COLUMN added text" }];
const known = migrations.length;

test("a node of the first version keeps running while a newer one changes the schema", async () => {
  const url = server.newUrl();
  await migrateTo(url, migrations.slice(0, 1));
  // As the first version called it.
  const call = async (sql: string) => (await server.query(url, `SELECT * FROM $schema.${sql}`))[0] ?? {};
  const { fence } = await call("begin_node('old', 30)");
  await server.query(
    url,
    `INSERT INTO $schema.inbox (id, state, attempts, accepted_at, due, source, kind, lane, authority, extend,
    characters, body)
     SELECT 'e' || n, 2, 0, ${start}, 0, 'hooks', 'agent', 'lane ' || n, 'hook', false, 4, '{"text": "body"}'
       FROM generate_series(1, 3) AS n`,
  );
  await call(`claim('old', ${fence}, 'token', 'lane 1', ${start}, 50)`);
  const store = await open(url, "new");
  expect(await store.begin(start)).toMatchObject({ resumed: 0 });
  expect((await take(store, "lane 2")).id).toBe("e2");
  expect(await call(`renew_lease('old', ${fence}, 30, '{e1}')`)).toMatchObject({
    held: true,
    renewed: true,
    lanes: [],
  });
  expect((await call(`claim('old', ${fence}, 'next token', 'lane 3', ${start}, 50)`)).stage).toBe("turn");
  for (const id of ["e1", "e3"]) {
    const values =
      `'old', ${fence}, '${id}', 'end of ${id}', ${start}, 'answered', 4::smallint, 'sent', ` +
      "NULL, NULL, NULL, false";
    expect(await call(`settle(${values}, NULL, NULL, NULL, NULL, NULL, NULL)`)).toMatchObject({ settled: true });
  }
  expect(await settle(store, "e2")).toBe(true);
  expect((await store.nodes?.reports())?.map(({ name }) => name)).toEqual(["new", "old"]);
  // It may also start again, as after a crash in the middle of the upgrade.
  expect(Number((await call("begin_node('old', 30)")).fence)).toBeGreaterThan(Number(fence));
});

test("a node keeps running and can restart on a schema that a later version only extended", async () => {
  const url = server.newUrl();
  const store = await open(url, "one");
  await store.begin(start);
  await migrateTo(url, additive);
  await store.accept(newEvent("a"));
  await take(store);
  expect(await settle(store, "a")).toBe(true);
  const again = await open(url, "one");
  await again.begin(start);
  expect(await again.event("a")).toMatchObject({ state: "settled" });
});

test("an incompatible migration is rejected without changes while an older node holds a lease", async () => {
  const url = server.newUrl();
  const [one, two] = [await open(url, "one"), await open(url, "two")];
  for (const store of [one, two]) await store.begin(start);
  await expect(migrateTo(url, breaking)).rejects.toMatchObject({
    code: "database_in_use",
    message: expect.stringMatching(/to schema \d+\), and nodes of an older version still use it: one, two\.$/),
  });
  await one.accept(newEvent("a"));
  await take(one);
  expect(await settle(one, "a")).toBe(true);
  await one.close();
  await two.close();
  await migrateTo(url, breaking);
  await expect(open(url, "one")).rejects.toMatchObject({
    code: "database_version",
    message: expect.stringContaining(`schema ${known + 1}`),
  });
});

test("a node that slept through an incompatible migration exits with a message and writes nothing", async () => {
  const url = server.newUrl();
  const store = await open(url, "one");
  const { fence } = await store.begin(start);
  await store.accept(newEvent("a"));
  await take(store);
  await server.query(url, "UPDATE $schema.nodes SET lease_until = clock_timestamp()");
  await migrateTo(url, breaking);
  // What it does by itself when it wakes.
  const [renewed] = await server.query(url, `SELECT * FROM $schema.renew_lease('one', ${fence}, 30, '{a}')`);
  expect(renewed).toMatchObject({ held: false });
  await expect(settle(store, "a")).rejects.toMatchObject({ code: "state_fenced" });
  await expect(store.fence()).rejects.toMatchObject({ code: "database_version" });
  await expect(store.begin(start)).rejects.toMatchObject({ code: "database_version" });
});

test("the ledger of model calls starts with the tokens that an earlier version stored", async () => {
  const url = server.newUrl();
  await migrateTo(url, migrations.slice(0, 3));
  await server.query(
    url,
    `WITH unit AS (INSERT INTO $schema.units (event_id, lane, state, agent_id) VALUES ('e', 'lane', 2, 'main')
    RETURNING id)
     INSERT INTO $schema.usage (unit, at, model, input_tokens, output_tokens)
     SELECT id, ${start}, model, 10, 5 FROM unit, (VALUES ('local/small'), ('local/small'), ('local/big'))
       AS m (model)`,
  );
  const store = await open(url, "new");
  expect(await store.usage({ since: start })).toMatchObject([
    { agentId: "main", model: "local/small", calls: 2, inputTokens: 20, outputTokens: 10, unpriced: { calls: 2 } },
    { agentId: "main", model: "local/big", calls: 1 },
  ]);
});
