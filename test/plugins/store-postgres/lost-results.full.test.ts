/** Connections that break: a call whose result was lost is repeated, and must not have its effect twice. */
import { aroundEach, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { answered, newEvent, start, take, textPart } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { openDatabaseWire } from "../../support/database-wire.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { usePostgres } from "../../support/postgres.ts";

aroundEach(inOwnTest);

const server = usePostgres();

async function open(url: string, node = "one"): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner: true, node });
  onTestFinished(() => store.close());
  return store;
}

const queue = (lane: number) => ({ lane: `queue ${lane}`, key: "heartbeat:main" });

/**
 * An event from its acceptance to its end, with everything that a turn may do on the way. Every call succeeds, and
 * once.
 */
async function run(store: Store, lane: number, index: number): Promise<void> {
  const id = `${lane}.${index}`;
  const place = queue(lane);
  await store.accept(newEvent(`queued ${id}`, { lane: place.lane, gather: { key: place.key, due: null } }));
  const accepted = await store.accept(
    newEvent(id, { lane: `${lane}`, dedupeKey: id, ...(index % 2 === 0 && { claim: true }) }),
  );
  expect(accepted).toMatchObject({ eventId: id, duplicate: false });
  expect(accepted.unit ?? (await take(store, `${lane}`))).toMatchObject({ id, attempts: 1 });
  await store.handBack(id, { due: start, uncount: true });
  expect(await take(store, `${lane}`)).toMatchObject({ id, attempts: 1 });
  expect((await store.takeQueued(id, { queue: place, now: start })).map((event) => event.id)).toEqual([`queued ${id}`]);
  const [row] = await store.say({
    unitId: id,
    at: start,
    rows: [
      { address: { channel: "chat", account: "default", chat: `${lane}` }, operation: "send", part: textPart(id) },
    ],
    ending: answered,
    tookQueued: true,
    transcript: { sessionKey: `${lane}`, messages: [{ role: "user", content: id, at: start }] },
  });
  expect(await store.unsent(id)).toMatchObject([{ id: row?.id, state: "sending", attempts: 1 }]);
  const sent = { rowId: row?.id ?? 0, receipt: { messageId: id }, at: start };
  expect(await store.settle({ ...answered, unitId: id, at: start, decisions: [], sent })).toBe(true);
  await store.update("counts", `${lane}`, (count) => (typeof count === "number" ? count + 1 : 1));
}

test.concurrent("a result lost after its commit has its effect once, and every caller receives it", async () => {
  const url = server.newUrl();
  const wire = await openDatabaseWire(url);
  onTestFinished(() => wire.close());
  const store = await open(wire.url);
  await store.begin(start);
  wire.lose(4);
  const lanes = Array.from({ length: 8 }, (_, lane) => lane);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let index = 0; index < 4; index += 1) await run(store, lane, index);
    }),
  );
  wire.lose(0);
  expect(wire.lost()).toBeGreaterThan(20);
  expect(await store.stats()).toMatchObject({ waiting: 0, running: 0, outboxWaiting: 0, settled: { answered: 64 } });
  for (const lane of lanes) {
    expect((await store.transcript(`${lane}`)).map(({ content }) => content)).toEqual(
      [0, 1, 2, 3].map((index) => `${lane}.${index}`),
    );
    expect(await store.get("counts", `${lane}`)).toBe(4);
  }
  const [counted] = await server.query(
    url,
    "SELECT (SELECT count(*)::int FROM $schema.outbox) AS parts, (SELECT count(*)::int FROM $schema.inbox) AS events",
  );
  expect(counted).toEqual({ parts: 32, events: 64 });
});

test.concurrent("a connection that the server closes is replaced without an error", async () => {
  const url = server.newUrl();
  const store = await open(url, "closed");
  await store.begin(start);
  for (let round = 0; round < 5; round += 1) {
    await server.query(
      url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'service-gateway closed'",
    );
    await store.accept(newEvent(`e${round}`));
  }
  expect(await store.stats()).toMatchObject({ waiting: 5 });
});

test.concurrent("a unit taken under a lease that has already ended is not run", async () => {
  const url = `${server.newUrl()}&lease=1`;
  const wire = await openDatabaseWire(url);
  onTestFinished(() => wire.close());
  const store = await open(wire.url);
  await store.begin(start);
  await store.accept(newEvent("waits", { lane: "one" }));
  // Both calls have a connection.
  await Promise.all([store.stats(), store.stats()]);
  // The results of both calls, and of all renewals, arrive when the lease has ended.
  const release = wire.hold();
  const claiming = store.claim("one", { now: start, limit: 1 });
  const accepting = store.accept(newEvent("taken", { lane: "two", claim: true }));
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await server.query(url, "SELECT lane FROM $schema.units WHERE state = 1 ORDER BY lane")).toEqual([
    { lane: "one" },
    { lane: "two" },
  ]);
  release();
  expect(await claiming).toEqual({ unit: null, due: null });
  expect(await accepting).toEqual({ eventId: "taken", duplicate: false });
});
