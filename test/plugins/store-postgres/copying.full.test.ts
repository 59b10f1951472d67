import { expect, onTestFinished, test } from "vitest";
import { type CopyKind, type CopyRow, copyKinds, type Store } from "../../../core/state/index.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { copyState } from "../../../core/stores/index.ts";
import { copyMethods } from "../../../plugins/store-postgres/copying.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { openDatabase, type Values } from "../../../plugins/store-postgres/pool.ts";
import { newDirectory } from "../../core/state/directory.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const at = 1_800_000_000_000;
const now = () => at;

async function embedded(): Promise<Store> {
  const store = await openSqliteStore({ directory: await newDirectory(), now });
  onTestFinished(() => store.close());
  return store;
}

async function shared(): Promise<Store> {
  const store = await postgres.open({ url: server.newUrl(), now, owner: true, node: "one" });
  onTestFinished(() => store.close());
  return store;
}

const copy = (source: Store, target: Store) =>
  copyState({ source, target, shown: "the target", newId: () => "source" });

const rowsOfKind = async ({ copying }: Store, kind: CopyKind): Promise<readonly CopyRow[]> =>
  (await copying?.read(kind, { after: null, rows: 1_000, characters: 100_000_000 }))?.rows ?? [];

async function rowsOf(store: Store): Promise<readonly CopyRow[]> {
  const rows: CopyRow[] = [];
  for (const kind of copyKinds) rows.push(...(await rowsOfKind(store, kind)));
  return rows;
}

const event = (id: string, more: object = {}) => ({
  id,
  at: at + 0.25,
  event: {
    source: "chat",
    kind: "message",
    lane: "chat:default:1",
    authority: "hook" as const,
    body: { text: id },
    ...more,
  },
});

async function converse(store: Store, lane: string, id: string, sessionKey: string): Promise<void> {
  await store.accept({ ...event(id, { lane }), claim: true });
  const messages = ["question", "answer"].map((word) => ({ role: "user" as const, content: `${word} of ${id}`, at }));
  await store.say({
    unitId: id,
    at,
    rows: [],
    ending: { outcome: "answered", reason: "sent" },
    transcript: { sessionKey, messages },
  });
  await store.settle({ unitId: id, at, outcome: "answered", reason: "sent", decisions: [] });
}

test("data that the two databases store differently is copied unchanged", async () => {
  const source = await embedded();
  await source.begin(at);
  // The messages of a session that moves come before older ones of the target, so their order is not that of their ids.
  await converse(source, "chat:default:2", "new chat", "to");
  await converse(source, "chat:default:1", "old chat", "from");
  const sessions = [{ from: "from", to: "to" }];
  await source.moveChat({ channel: "chat", account: "default", from: "1", to: "2", sessions, at });
  await source.accept(event("never due", { lane: "later", gather: { key: "k", due: Number.POSITIVE_INFINITY } }));
  await source.accept(event("\0 in the text \\u0000 \u{1F600}"));
  await source.accept({
    ...event("decided"),
    settled: {
      outcome: "silent",
      reason: "x",
      decisions: [{ at, station: "accept", plugin: "p\0", verdict: "silent", code: "c", hint: "h \0\0 \\u0000 \\\0" }],
    },
  });
  await source.updateSession("to", {
    agentId: "main",
    at: at + 0.5,
    settings: { zeta: "\0 \\u0000 \\\0", alpha: { b: 1, a: [null] } },
  });
  for (const key of ["b", "a\0", "a\ufffe", "a\u{1F600}", "", "Z", "ä"]) await source.set("plugin", key, { key });
  const there = await shared();
  await copy(source, there);
  const back = await embedded();
  await copy(there, back);
  const rows = await rowsOf(source);
  expect(rows.length).toBeGreaterThan(20);
  expect(await rowsOf(there)).toEqual(rows);
  expect(await rowsOf(back)).toEqual(rows);
  for (const store of [source, there, back]) {
    const [kept] = await rowsOfKind(store, "decision");
    expect(kept).toMatchObject({ entries: [{ plugin: "p\ufffd", hint: "h \ufffd\ufffd \\u0000 \\\ufffd" }] });
    expect((await rowsOfKind(store, "session"))[0]?.settings).toMatchObject({ zeta: "\ufffd \\u0000 \\\ufffd" });
  }
  const order = ["question of old chat", "answer of old chat", "question of new chat", "answer of new chat"];
  for (const store of [source, there, back])
    expect((await store.transcript("to")).map(({ content }) => content)).toEqual(order);
  await there.begin(at);
  await converse(there, "chat:default:2", "third", "to");
  expect((await there.transcript("to")).map(({ content }) => content)).toEqual([
    ...order,
    "question of third",
    "answer of third",
  ]);
});

test("a batch ends at its character limit and contains at least one row", async () => {
  for (const store of [await embedded(), await shared()]) {
    await store.begin(at);
    for (const id of ["a", "b", "c"]) await store.accept(event(id, { body: { text: id.repeat(1_000) } }));
    const read = async (characters: number, after: readonly number[] | null = null) =>
      (await store.copying?.read("event", { after, rows: 10, characters }))?.rows.map(({ id }) => id);
    expect(await read(1)).toEqual(["a"]);
    expect(await read(1_500)).toEqual(["a", "b"]);
    expect(await read(1, [1])).toEqual(["b"]);
    expect(await read(100_000)).toEqual(["a", "b", "c"]);
  }
});

test("a page of a long transcript reads only its own messages and continues the numbering", async () => {
  const url = server.newUrl();
  const store = await postgres.open({ url, now, owner: true, node: "one" });
  onTestFinished(() => store.close());
  await store.begin(at);
  const messages = Array.from({ length: 3_000 }, (_, index) => ({ role: "user" as const, content: String(index), at }));
  await store.accept({ ...event("long"), claim: true });
  const ending = { outcome: "answered", reason: "sent" } as const;
  await store.say({ unitId: "long", at, rows: [], ending, transcript: { sessionKey: "s", messages } });
  await server.query(url, "ANALYZE $schema.messages");
  const database = openDatabase(url, "test");
  onTestFinished(() => database.close());
  const plans: string[] = [];
  const copying = copyMethods({
    ...database,
    async report<Row>(sql: string, values: Values = []) {
      plans.push(JSON.stringify(await database.report(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values)));
      return database.report<Row>(sql, values);
    },
  });
  const options = { rows: 1_000, characters: 1_000_000 };
  const first = await copying.read("message", { ...options, after: null });
  const second = await copying.read("message", { ...options, after: first.next });
  const last = await copying.read("message", { ...options, rows: 10, after: second.next });
  const places = [first, second, last].flatMap(({ rows }) => rows.map(({ place }) => place));
  expect(places).toEqual(Array.from({ length: 2_010 }, (_, index) => index + 1));
  const read = [...(plans.at(-1) ?? "").matchAll(/"Actual Rows":(\d+)/g)].map(([, rows]) => Number(rows));
  expect(read.length).toBeGreaterThan(2);
  expect(Math.max(...read)).toBeLessThan(50);
});

test("a database in use by a gateway or by the copy of another state is rejected as a target", async () => {
  const source = await embedded();
  const used = await shared();
  await used.begin(at);
  await expect(copy(source, used)).rejects.toMatchObject({
    code: "state_copy_refused",
    message: expect.stringContaining("a gateway uses it"),
  });
  const other = await shared();
  await other.copying?.begin({ source: "another state", kind: "counter", after: null });
  await expect(copy(source, other)).rejects.toMatchObject({
    code: "state_copy_refused",
    message: expect.stringContaining("unfinished copy of another state"),
  });
});
