/** What the store does about the database behind it: versions, foreign schemas, and a server that goes away. */
import { aroundEach, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { newEvent, settle, start, take } from "../../../core/testkit/store/fixture.ts";
import { modelCall } from "../../../core/testkit/store/model-calls.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { openOwnPostgres, usePostgres } from "../../support/postgres.ts";

aroundEach(inOwnTest);

const server = usePostgres();

async function open(url: string, node = "one"): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner: true, node });
  onTestFinished(() => store.close());
  return store;
}

const away = { code: "database_away" };

test.concurrent("nodes that start together on a new database create the schema once", async () => {
  const url = server.newUrl();
  const stores = await Promise.all(["a", "b", "c", "d", "e"].map((node) => open(url, node)));
  await Promise.all(stores.map((store, index) => store.accept(newEvent(`e${index}`, { lane: `${index}` }))));
  expect(await stores[0]?.stats()).toMatchObject({ waiting: 5 });
});

test.concurrent("deleting a session removes its key from all model calls in the ledger", async () => {
  const url = server.newUrl();
  const store = await open(url);
  for (const [id, sessionKey] of Object.entries({ a: "agent:main:dm:1001", b: "agent:main:main" }))
    await store.recordCall(modelCall(id, { sessionKey, channel: "hooks", purpose: "webhook" }));
  await store.deleteSession("agent:main:dm:1001");
  expect(await server.query(url, "SELECT session_key FROM $schema.model_calls ORDER BY id")).toEqual([
    { session_key: null },
    { session_key: "agent:main:main" },
  ]);
});

test.concurrent("a schema of a newer version, another program or with other tables is rejected unchanged", async () => {
  const url = server.newUrl();
  await open(url);
  await server.query(url, "UPDATE $schema.about SET version = 99, oldest = 99");
  await expect(open(url)).rejects.toMatchObject({
    code: "database_version",
    message: expect.stringContaining("schema 99"),
  });
  await server.query(url, "UPDATE $schema.about SET program = 'other'");
  await expect(open(url)).rejects.toMatchObject({ code: "database_foreign" });

  const foreign = server.newUrl();
  await server.query(foreign, "CREATE SCHEMA $schema; CREATE TABLE $schema.inbox (id int)");
  await expect(open(foreign)).rejects.toMatchObject({ code: "database_foreign" });
  expect(
    await server.query(foreign, "SELECT table_name FROM information_schema.tables WHERE table_schema = '$schema'"),
  ).toEqual([{ table_name: "inbox" }]);
});

test.concurrent("an existing empty schema is used if the user may not create one", async () => {
  const url = server.newUrl();
  await server.query(url, "CREATE SCHEMA $schema");
  const store = await open(url);
  expect(await store.stats()).toMatchObject({ waiting: 0 });
});

test.concurrent("an unreachable address is rejected without revealing its password", async () => {
  const secret = "not-to-be-shown";
  const there = new URL(server.newUrl());
  const wrong = {
    database_unusable: [
      `postgres://:${secret}@`,
      `postgres://nobody-here:${secret}@${there.host}/postgres`,
      `postgres://postgres:${secret}@${there.host}/nothing`,
    ],
    database_away: [`postgres://postgres:${secret}@127.0.0.1:1/postgres`],
  };
  for (const [code, urls] of Object.entries(wrong)) {
    for (const url of urls) {
      const error = await open(url).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error, url).toMatchObject({ code });
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(secret);
    }
  }
});

test.concurrent("while the database is down, nothing is accepted, with a known reason; then work resumes", async () => {
  const own = await openOwnPostgres();
  const store = await open(own.newUrl());
  await store.begin(start);
  await store.accept(newEvent("before"));
  expect(store.trouble()).toBeUndefined();
  await own.stop();
  try {
    await expect(store.accept(newEvent("away"))).rejects.toMatchObject(away);
    await expect(store.stats()).rejects.toMatchObject(away);
    expect(store.trouble()).toContain("is not available");
  } finally {
    await own.start();
  }
  expect(await store.accept(newEvent("after"))).toEqual({ eventId: "after", duplicate: false });
  expect(store.trouble()).toBeUndefined();
  for (const id of ["before", "after"]) {
    expect((await take(store)).id).toBe(id);
    expect(await settle(store, id)).toBe(true);
  }
});

test.concurrent("U+0000 is preserved in bodies and messages, replaced in names and texts of a moved chat", async () => {
  const store = await open(server.newUrl());
  await store.begin(start);
  const text = "a\u0000b";
  await store.accept(newEvent("e", { lane: `chat:default:${text}`, dedupeKey: text }));
  expect(await store.first(text)).toEqual({ eventId: "e" });
  expect((await take(store, `chat:default:${text}`)).events).toMatchObject([{ body: { text: "body of e" } }]);
  const part = { kind: "text", chars: 3, body: { text } } as const;
  const rows = [{ address: { channel: "chat", account: "default", chat: "-5" }, operation: "send", part }] as const;
  await store.say({ unitId: "e", at: start, rows, ending: { outcome: "answered", reason: text } });
  expect((await store.unsent("e"))[0]?.part).toEqual(part);
  await store.handBack("e", { due: 0 });
  await store.set("n", text, text);
  expect(await store.get("n", text)).toBe(text);
  expect(await store.list("n")).toMatchObject([{ key: "a\ufffdb" }]);

  await store.accept(newEvent("m", { lane: "chat:default:-5" }));
  await take(store, "chat:default:-5");
  await store.say({ unitId: "m", at: start, rows, ending: { outcome: "answered", reason: "sent" } });
  await store.moveChat({ channel: "chat", account: "default", from: "-5", to: "-100", sessions: [], at: start });
  expect(await store.unsent("m")).toMatchObject([{ address: { chat: "-100" }, part: { body: { text: "a\ufffdb" } } }]);
});

test.concurrent("nodes that prune together count each removed event once", async () => {
  const url = server.newUrl();
  const [one, two] = [await open(url, "one"), await open(url, "two")];
  const settled = { outcome: "silent", reason: "x" } as const;
  await Promise.all(Array.from({ length: 2_000 }, (_, n) => one.accept(newEvent(`e${n}`, { settled }))));
  const limits = { now: start, keepEventsMs: 3_600_000, keepEvents: 0, keepSentMs: 3_600_000 };
  await Promise.all([one, two, one, two].map((store) => store.prune(limits)));
  expect(await one.stats()).toMatchObject({ settled: { silent: 2_000 } });
  expect(await server.query(url, "SELECT count(*)::int AS left FROM $schema.inbox")).toEqual([{ left: 0 }]);
});

test.concurrent("a lease that ends while the database is down is replaced, and its units wait again", async () => {
  const own = await openOwnPostgres();
  const store = await open(`${own.newUrl()}&lease=1`);
  await store.begin(start);
  const told: string[] = [];
  store.nodes?.watch({ work: (lanes) => told.push(...lanes), note() {}, lost() {} });
  const left = () => store.nodes?.leaseLeft() ?? Number.NaN;
  expect(left()).toBeGreaterThan(0);
  expect(left()).toBeLessThanOrEqual(1_000);
  await store.accept(newEvent("a"));
  await take(store);
  // A claim alone may be undone by a crash of the server; what is flushed after it keeps it.
  await store.set("flushed", "after", "the claim", { durable: true });
  await own.stop();
  try {
    await expect.poll(left).toBe(0);
  } finally {
    await own.start();
  }
  await expect.poll(left).toBeGreaterThan(0);
  await expect(settle(store, "a")).rejects.toMatchObject({ code: "lease_lost" });
  await expect.poll(() => told).toContain("lane");
  expect(await take(store)).toMatchObject({ id: "a", attempts: 2 });
  expect(await settle(store, "a")).toBe(true);
});
