/** What the store does about the database behind it: versions, foreign schemas, and a server that goes away. */
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { answered, newEvent, settle, start, take } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const opened: Store[] = [];

async function open(url: string, node = "one"): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner: true, node });
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

const away = { code: "database_away" };

test("nodes that start at once on a new database create the schema once", async () => {
  const url = server.newUrl();
  const stores = await Promise.all(["a", "b", "c", "d", "e"].map((node) => open(url, node)));
  await Promise.all(stores.map((store, index) => store.accept(newEvent(`e${index}`, { lane: `${index}` }))));
  expect(await stores[0]?.stats()).toMatchObject({ waiting: 5 });
});

test("a schema of a newer version, of another program, or with other tables is refused and left as it is", async () => {
  const url = server.newUrl();
  await open(url);
  await server.query(url, "UPDATE $schema.about SET version = 99");
  await expect(open(url)).rejects.toMatchObject({ code: "database_version", message: expect.stringContaining("schema 99") });
  await server.query(url, "UPDATE $schema.about SET program = 'other'");
  await expect(open(url)).rejects.toMatchObject({ code: "database_foreign" });

  const foreign = server.newUrl();
  await server.query(foreign, "CREATE SCHEMA $schema; CREATE TABLE $schema.inbox (id int)");
  await expect(open(foreign)).rejects.toMatchObject({ code: "database_foreign" });
  expect(await server.query(foreign, "SELECT table_name FROM information_schema.tables WHERE table_schema = '$schema'")).toEqual([
    { table_name: "inbox" },
  ]);
});

test("an empty schema that exists is used, as where a user may not create one", async () => {
  const url = server.newUrl();
  await server.query(url, "CREATE SCHEMA $schema");
  const store = await open(url);
  expect(await store.stats()).toMatchObject({ waiting: 0 });
});

test("an address that leads nowhere is refused without its password", async () => {
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

test("while the database is away, nothing is accepted and the reason is known; afterwards everything goes on", async () => {
  const store = await open(server.newUrl());
  await store.begin(start);
  await store.accept(newEvent("before"));
  expect(store.trouble()).toBeUndefined();
  await server.stop();
  try {
    await expect(store.accept(newEvent("away"))).rejects.toMatchObject(away);
    await expect(store.stats()).rejects.toMatchObject(away);
    expect(store.trouble()).toContain("cannot be reached");
  } finally {
    await server.start();
  }
  expect(await store.accept(newEvent("after"))).toEqual({ eventId: "after", duplicate: false });
  expect(store.trouble()).toBeUndefined();
  for (const id of ["before", "after"]) {
    expect((await take(store)).id).toBe(id);
    expect(await settle(store, id)).toBe(true);
  }
});

test("connections that break in the middle of work lose and repeat nothing", async () => {
  const url = server.newUrl();
  const store = await open(url);
  await store.begin(start);
  let working = true;
  const cut = async () => {
    while (working) {
      await server.query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'service-gateway one'");
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  const replied: string[] = [];
  const run = async (lane: number) => {
    for (let index = 0; index < 6; index += 1) {
      const id = `${lane}.${index}`;
      expect(await store.accept(newEvent(id, { lane: `${lane}`, dedupeKey: id }))).toEqual({ eventId: id, duplicate: false });
      const unit = await take(store, `${lane}`);
      expect(unit).toMatchObject({ id, attempts: 1 });
      const [row] = await store.say({
        unitId: id,
        at: start,
        rows: [
          {
            address: { channel: "chat", account: "default", chat: `${lane}` },
            operation: "send",
            part: { kind: "text", chars: 1, body: id },
          },
        ],
        ending: answered,
        transcript: { sessionKey: `${lane}`, messages: [{ role: "user", content: id, at: start }] },
      });
      const sent = { rowId: row?.id ?? 0, receipt: { messageId: id }, at: start };
      expect(await store.settle({ ...answered, unitId: id, at: start, decisions: [], sent })).toBe(true);
      replied.push(id);
    }
  };
  const cutting = cut();
  await Promise.all(Array.from({ length: 8 }, (_, lane) => run(lane))).finally(() => {
    working = false;
  });
  await cutting;
  expect(replied).toHaveLength(48);
  expect(await store.stats()).toMatchObject({ waiting: 0, running: 0, outboxWaiting: 0, settled: { answered: 48 } });
  const [counted] = await server.query(
    url,
    "SELECT (SELECT count(*)::int FROM $schema.outbox) AS parts, (SELECT count(*)::int FROM $schema.messages) AS messages, (SELECT count(*)::int FROM $schema.units) AS units",
  );
  expect(counted).toEqual({ parts: 48, messages: 48, units: 48 });
});
