/** Notes between nodes, and notifications of a role without rights: it can make nodes look, and nothing else. */
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import type { NodeNote, Store } from "../../../core/state/index.ts";
import { start } from "../../../core/testkit/store/fixture.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { migrate, migrations } from "../../../plugins/store-postgres/migrations.ts";
import { openDatabase } from "../../../plugins/store-postgres/pool.ts";
import { junkTexts } from "../../support/junk.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const open: { close(): Promise<void> }[] = [];
const channels = ["service_gateway_work", "service_gateway_notes", "service_gateway_look", "service_gateway_turns"];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function openNode(url: string, node: string): Promise<Store> {
  const store = await postgres.open({ url, now: () => start, owner: true, node });
  open.push(store);
  await store.begin(start);
  return store;
}

interface Heard {
  readonly notes: NodeNote[];
  readonly lanes: string[];
}

function watch(store: Store): Heard {
  const heard: Heard = { notes: [], lanes: [] };
  store.nodes?.watch({
    work: (lanes) => heard.lanes.push(...lanes),
    note: (note) => heard.notes.push(note),
    lost() {},
  });
  return heard;
}

/** A connection of a role that may log in and has no other right. */
async function stranger(url: string): Promise<pg.Client> {
  await server.query(url, "DO $$ BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const [address = ""] = url.replace("//postgres@", "//stranger@").split("?");
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  open.push({ close: () => client.end() });
  return client;
}

/** Resolves when the node hears notes, so that its first look is over. */
async function listens(from: Store, to: Heard): Promise<void> {
  await expect
    .poll(async () => {
      await from.nodes?.send({ topic: "hello", body: {} });
      return to.notes.length;
    })
    .toBeGreaterThan(0);
  to.notes.splice(0);
}

describe("notes between nodes", () => {
  test("a note reaches every node except its sender, in order", async () => {
    const url = server.newUrl();
    const [one, two] = [await openNode(url, "one"), await openNode(url, "two")];
    const [atOne, atTwo] = [watch(one), watch(two)];
    await listens(one, atTwo);
    for (let number = 0; number < 250; number += 1) await one.nodes?.send({ topic: "stop", body: { number } });
    await expect.poll(() => atTwo.notes.filter(({ topic }) => topic === "stop").length).toBe(250);
    const numbers = atTwo.notes
      .filter(({ topic }) => topic === "stop")
      .map(({ body }) => (body as { readonly number: number }).number);
    expect(numbers).toEqual(Array.from({ length: 250 }, (_, at) => at));
    expect(atOne.notes.filter(({ topic }) => topic === "stop")).toEqual([]);
  });

  test("a node ignores notes from before its start, and old notes are removed", async () => {
    const url = server.newUrl();
    const one = await openNode(url, "one");
    await one.nodes?.send({ topic: "early", body: {} });
    await server.query(url, "UPDATE $schema.notes SET at = at - interval '2 minutes'");
    const heard = watch(await openNode(url, "two"));
    await listens(one, heard);
    expect(heard.notes.filter(({ topic }) => topic === "early")).toEqual([]);
    expect(await server.query(url, "SELECT * FROM $schema.notes WHERE topic = 'early'")).toEqual([]);
  });

  test("the poll finds a note that was missed without a notification", async () => {
    const url = server.newUrl();
    const [one, two] = [await openNode(url, "one"), await openNode(url, "two")];
    const heard = watch(two);
    await listens(one, heard);
    await server.query(url, `INSERT INTO $schema.notes (node, topic, body) VALUES ('one', 'missed', '{}')`);
    await expect.poll(() => heard.notes.map(({ topic }) => topic)).toContain("missed");
  });

  test("a notification contains no note or chat id, unless a node of an earlier version needs the note", async () => {
    const url = server.newUrl();
    const one = await openNode(url, "one");
    const heard: string[] = [];
    const client = await stranger(url);
    client.on("notification", ({ payload }) => heard.push(payload ?? ""));
    for (const channel of channels) await client.query(`LISTEN ${channel}`);
    await one.nodes?.send({ topic: "stop", body: { place: "chat -100777" } });
    await expect.poll(() => heard).toEqual([""]);
    const old = "INSERT INTO $schema.nodes (node, incarnation, fence, begun_at, lease_until, version)";
    await server.query(url, `${old} VALUES ('old', 9, 9, now(), now() + interval '1 hour', 4)`);
    await one.nodes?.send({ topic: "stop", body: { place: "chat -100777" } });
    await expect.poll(() => heard).toHaveLength(3);
    const schema = `"${new URL(url).searchParams.get("schema")}"`;
    expect(JSON.parse(heard[2] ?? "")).toEqual({ schema, from: "one", topic: "stop", body: { place: "chat -100777" } });
  });

  test("a database of the previous version gets the table, and its nodes keep running", async () => {
    const url = server.newUrl();
    const before = openDatabase(url, "test");
    await migrate(before, migrations.slice(0, 4));
    await before.close();
    const [begun] = await server.query(url, "SELECT fence FROM $schema.begin_node('old', 30, 4)");
    const [one, two] = [await openNode(url, "one"), await openNode(url, "two")];
    await listens(one, watch(two));
    const [renewed] = await server.query(url, `SELECT held FROM $schema.renew_lease('old', ${begun?.fence}, 30, '{}')`);
    expect(renewed).toEqual({ held: true });
  });
});

describe("a role without privileges", () => {
  const forged = (url: string): readonly string[] => {
    const schema = `"${new URL(url).searchParams.get("schema")}"`;
    const note = (topic: string, body: unknown) => JSON.stringify({ schema, from: "x", topic, body });
    const bodies = [null, 1, "text", {}, { sessionKey: "agent:main:x", mode: "always" }];
    const topics = ["stop", "stopped", "activation", "running", "running-here"];
    return [
      // PostgreSQL takes at most 8,000 bytes, without NUL.
      ...junkTexts.map((text) => text.replaceAll("\0", "").slice(0, 7_900)),
      "[".repeat(7_900),
      ...topics.flatMap((topic) => bodies.map((body) => note(topic, body))),
    ];
  };

  test("cannot read or write notes", async () => {
    const url = server.newUrl();
    await openNode(url, "one");
    const client = await stranger(url);
    const schema = new URL(url).searchParams.get("schema");
    await expect(client.query(`SELECT * FROM ${schema}.notes`)).rejects.toThrow(/permission denied/);
    await expect(client.query(`SELECT ${schema}.send_note('x', 'stop', '{}')`)).rejects.toThrow(/permission denied/);
  });

  test("is ignored: nothing that it sends on any channel is reported as a note or a lane", async () => {
    const url = server.newUrl();
    const [one, two] = [await openNode(url, "one"), await openNode(url, "two")];
    const heard = watch(two);
    await listens(one, heard);
    const client = await stranger(url);
    for (const channel of channels) {
      for (const payload of forged(url)) await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
    }
    await one.nodes?.send({ topic: "real", body: {} });
    await expect.poll(() => heard.notes.map(({ topic }) => topic)).toContain("real");
    expect(heard.notes.filter(({ topic }) => !["hello", "real"].includes(topic))).toEqual([]);
    expect(heard.lanes).toEqual([]);
  });

  test("cannot overload a node: 50,000 notifications cause a few checks, and a note still arrives", async () => {
    const url = server.newUrl();
    const [one, two] = [await openNode(url, "one"), await openNode(url, "two")];
    const heard = watch(two);
    await listens(one, heard);
    const client = await stranger(url);
    const looks = async () => {
      const rows =
        "SELECT sum(idx_scan + seq_scan)::int AS scans FROM pg_stat_all_tables WHERE relname IN ('notes', 'inbox')";
      const [row] = await server.query(url, `${rows} AND schemaname = '$schema'`);
      return Number(row?.scans);
    };
    const before = await looks();
    const begun = performance.now();
    for (let second = 0; second < 5; second += 1) {
      for (const channel of channels) {
        await client.query("SELECT pg_notify($1, $2 || n) FROM generate_series(1, 2500) AS n", [channel, "lane "]);
      }
    }
    await one.nodes?.send({ topic: "real", body: {} });
    await expect.poll(() => heard.notes.map(({ topic }) => topic)).toContain("real");
    const seconds = (performance.now() - begun) / 1_000;
    // Each look scans a table a few times; without the bound there would be one for each notification.
    expect((await looks()) - before).toBeLessThan(1_000 + seconds * 200);
    expect(heard.lanes).toEqual([]);
  });
});
