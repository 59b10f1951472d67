/** Calls that share a transaction, and how many rows a call reads. */
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { answered, newEvent, settle, start, textPart } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { type Database, openDatabase } from "../../../plugins/store-postgres/pool.ts";
import { createSharedCalls } from "../../../plugins/store-postgres/shared-calls.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A store with running units, `u0` and on. */
async function openRunning(count: number) {
  const url = server.newUrl();
  const store = await postgres.open({ url, now: () => start, owner: true, node: "one" });
  closing.push(() => store.close());
  const { fence } = await store.begin(start);
  const ids = Array.from({ length: count }, (_, index) => `u${index}`);
  await Promise.all(ids.map((id) => store.accept(newEvent(id, { lane: id, claim: true }))));
  return { url, store, fence, ids };
}

/** The calls of `settle` on a connection of their own, and how many statements they took. */
function countedSettle(url: string, fence: number) {
  const database = openDatabase(url, "counted");
  closing.push(() => database.close());
  let statements = 0;
  const counted =
    <Name extends "call" | "calls">(name: Name) =>
    (...args: never[]) => {
      statements += 1;
      return (database[name] as (...given: never[]) => Promise<never>)(...args);
    };
  const shared = createSharedCalls(
    { call: counted("call") as Database["call"], calls: counted("calls") as Database["calls"] },
    "settle",
  );
  const call = (id: string, at: unknown = start) =>
    shared<{ readonly settled: boolean }>([
      ...["one", fence, id, `end of ${id}`, at, "silent", 5, "test", null, null, null, false],
      ...[null, null, null, null, null, null],
    ]);
  return { call, statements: () => statements };
}

const codeOf = (error: unknown) => (error as { readonly code?: unknown }).code;
const settledIn = async (store: Store) => (await store.stats()).settled.silent;

test("waiting calls share one statement, and a failing one does not affect the others", async () => {
  const { url, store, fence, ids } = await openRunning(40);
  await server.query(url, "UPDATE $schema.units SET fence = -1 WHERE event_id = 'u7'");
  const { call, statements } = countedSettle(url, fence);
  const results = await Promise.allSettled(ids.map((id) => call(id)));
  for (const [index, result] of results.entries()) {
    if (index !== 7)
      expect(result, `u${index}`).toEqual({ status: "fulfilled", value: [{ settled: true, lane: null }] });
    else expect([result.status, codeOf((result as PromiseRejectedResult).reason)]).toEqual(["rejected", "lease_lost"]);
  }
  expect(statements()).toBe(2);
  expect(await settledIn(store)).toBe(39);
});

test("a value that the database cannot read fails only its own call", async () => {
  const { url, store, fence } = await openRunning(3);
  const { call } = countedSettle(url, fence);
  const results = await Promise.allSettled([call("u0"), call("u1", "not a time"), call("u2")]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await settledIn(store)).toBe(2);
});

test("replies stored together stay in order with their transcript; one of an idle unit is rejected", async () => {
  const { store, ids } = await openRunning(10);
  await store.handBack("u3", { due: start + 60_000 });
  const address = { channel: "chat", account: "default", chat: "5" };
  const results = await Promise.allSettled(
    ids.map((id) =>
      store.say({
        unitId: id,
        at: start,
        rows: ["first", "second"].map(
          (text) => ({ address, operation: "send", part: textPart(`${text} of ${id}`) }) as const,
        ),
        ending: answered,
        transcript: { sessionKey: id, messages: [{ role: "assistant", content: `of ${id}`, at: start }] },
      }),
    ),
  );
  for (const [index, id] of ids.entries()) {
    const refused = id === "u3";
    expect(results[index]?.status).toBe(refused ? "rejected" : "fulfilled");
    const expected = refused ? [] : [textPart(`first of ${id}`), textPart(`second of ${id}`)];
    expect((await store.unsent(id)).map(({ part }) => part)).toEqual(expected);
    expect((await store.transcript(id)).map(({ content }) => content)).toEqual(refused ? [] : [`of ${id}`]);
  }
});

test("taking an event on acceptance reads as many rows with 20,000 waiting events as with a few", async () => {
  const { url, store } = await openRunning(0);
  const takeEach = async (name: string) => {
    for (let index = 0; index < 20; index += 1) {
      const id = `${name} ${index}`;
      expect(await store.accept(newEvent(id, { lane: id, claim: true }))).toHaveProperty("unit");
      await settle(store, id);
    }
  };
  // The plan that stays in use is made after some calls, by the statistics of a time without waiting events.
  await takeEach("early");
  await server.query(url, "ANALYZE");
  await takeEach("again");
  const count = 20_000;
  for (let first = 0; first < count; first += 2_000) {
    const events = Array.from({ length: 2_000 }, (_, index) =>
      newEvent(`w${first + index}`, { lane: `lane ${index}` }),
    );
    await Promise.all(events.map((event) => store.accept(event)));
  }
  const rowsRead = async () => {
    const sql = `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = '$schema')::int
      + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '$schema')::int AS rows`;
    return Number((await server.query(url, sql))[0]?.rows);
  };
  // A connection reports what it has read once a second at most, when its next statement ends.
  const reported = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await Promise.all(Array.from({ length: 12 }, () => store.first("none")));
    return await rowsRead();
  };
  const before = await reported();
  await takeEach("late");
  expect((await reported()) - before).toBeLessThan(10_000);
});
