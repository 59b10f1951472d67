/** How a node learns of work that it did not accept itself. */
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { newEvent, settle, start, take } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { createLease } from "../../../plugins/store-postgres/nodes/lease.ts";
import { openDatabase } from "../../../plugins/store-postgres/pool.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const opened: Store[] = [];

async function open(url: string, node: string, owner = true): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner, node });
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** The lanes that a store reports, in order and without repetitions. */
function lanesOf(store: Store): readonly string[] {
  const lanes: string[] = [];
  store.nodes?.watch({
    work: (told) => lanes.push(...told.filter((lane) => !lanes.includes(lane))),
    note() {},
    lost() {},
  });
  return lanes;
}

test("an event that a command accepts or replays is reported to the nodes", async () => {
  const url = server.newUrl();
  const node = await open(url, "one");
  await node.begin(start);
  const lanes = lanesOf(node);
  const command = await open(url, "command", false);
  await command.accept(newEvent("a", { lane: "by a command" }));
  await expect.poll(() => lanes).toEqual(["by a command"]);
  await command.accept(newEvent("b", { lane: "replayed", settled: { outcome: "failed", reason: "x" } }));
  await command.replay("b", start);
  await expect.poll(() => lanes).toEqual(["by a command", "replayed"]);
});

test("events that wait behind a unit are reported when it ends, on any node that accepted them", async () => {
  const url = server.newUrl();
  const [one, two] = [await open(url, "one"), await open(url, "two")];
  await one.begin(start);
  await two.begin(start);
  await one.accept(newEvent("a", { claim: true }));
  const lanes = lanesOf(one);
  await two.accept(newEvent("b", { claim: true }));
  await settle(one, "a");
  expect(lanes).toEqual(["lane"]);
});

test("the poll finds due and idle lanes, but not running or future ones", async () => {
  const url = server.newUrl();
  const [one, two] = [await open(url, "one"), await open(url, "two")];
  await one.begin(start);
  await two.begin(start);
  for (const lane of ["rests", "runs", "rests too"]) await one.accept(newEvent(lane, { lane }));
  await one.accept(newEvent("behind", { lane: "runs" }));
  await one.accept(newEvent("later", { lane: "later", gather: { key: "g", due: start + 1_000 } }));
  await take(one, "runs");
  const lanes = lanesOf(two);
  await expect.poll(() => [...lanes].sort()).toEqual(["rests", "rests too"]);
});

test("a broken listening connection is replaced", async () => {
  const url = server.newUrl();
  const node = await open(url, "listens");
  await node.begin(start);
  const lanes = lanesOf(node);
  const listening = "FROM pg_stat_activity WHERE application_name = 'service-gateway listens' AND query LIKE 'LISTEN%'";
  const pids = async () => (await server.query(url, `SELECT pid ${listening}`)).map(({ pid }) => pid);
  await expect.poll(pids).toHaveLength(1);
  const [first] = await pids();
  await server.query(url, `SELECT pg_terminate_backend(pid) ${listening}`);
  await expect.poll(async () => (await pids()).filter((pid) => pid !== first)).toHaveLength(1);
  const command = await open(url, "command", false);
  // A time that is not due keeps the poll from finding it.
  await command.accept(newEvent("a", { lane: "told", gather: { key: "g", due: start + 1_000 } }));
  await expect.poll(() => lanes).toEqual(["told"]);
});

test("a unit that a node took unknowingly waits again, uncounted, once no call for it can be in progress", async () => {
  const url = server.newUrl();
  const node = await open(url, "watches");
  await node.begin(start);
  const told: string[] = [];
  const running: string[] = [];
  const database = openDatabase(url, "test");
  const lease = createLease(database, {
    node: "one",
    running: () => running,
    onWork: (lanes) => told.push(...lanes),
    onLost() {},
  });
  try {
    await lease.begin();
    const fence = "(SELECT fence FROM $schema.nodes WHERE node = 'one')";
    for (const id of ["unknown", "known", "young"]) {
      await node.accept(newEvent(id, { lane: id }));
      await take(node, id);
      const began = id === "young" ? "5 seconds" : "1 minute";
      await server.query(
        url,
        `UPDATE $schema.units SET fence = ${fence}, began_at = clock_timestamp() - interval '${began}' ` +
          `WHERE event_id = '${id}'`,
      );
    }
    running.push("known");
    await lease.renew();
    expect(told).toEqual(["unknown"]);
    expect(await node.stats()).toMatchObject({ waiting: 1, running: 2 });
    expect(await take(node, "unknown")).toMatchObject({ attempts: 1 });
  } finally {
    await lease.end();
    await database.close();
  }
});
