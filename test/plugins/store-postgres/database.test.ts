/** What the store does about the database behind it: versions, foreign schemas, and a server that goes away. */
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { newEvent, settle, start, take } from "../../../core/testkit/store/fixture.ts";
import postgres from "../../../plugins/store-postgres/index.ts";
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
