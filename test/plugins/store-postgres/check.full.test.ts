/** What the store finds wrong with a database. */

import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import type { StoreFinding } from "../../../core/sdk/store.ts";
import type { Store } from "../../../core/state/index.ts";
import { type Facts, readFacts } from "../../../plugins/store-postgres/check/facts.ts";
import { findingsOf } from "../../../plugins/store-postgres/check/findings.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { hasPooler, usePooler } from "../../support/pooler.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();
const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

const check = async (url: string, now: () => number = Date.now) =>
  (await postgres.check?.({ url, now, owner: false, node: "checks" })) ?? [];

async function open(url: string, node = "one"): Promise<Store> {
  const store = await postgres.open({ url, now: Date.now, owner: true, node });
  undo.push(() => store.close());
  return store;
}

/** The same address for another user, who is created without any privileges. */
async function asUser(url: string, name: string, options = ""): Promise<string> {
  await server.query(url, `CREATE ROLE ${name} LOGIN ${options}`);
  undo.push(() => server.query(url, `DROP OWNED BY ${name} CASCADE; DROP ROLE ${name}`));
  const address = new URL(url);
  address.username = name;
  return address.href;
}

const schemaOf = (url: string): string => new URL(url).searchParams.get("schema") ?? "";
const says = (verdict: StoreFinding["verdict"], reason: string | RegExp, fix: string) => [
  { verdict, reason: expect.stringMatching(reason), fix: expect.stringContaining(fix) },
];

test("a complete database is reported in one sentence, before and after its first use", async () => {
  const url = server.newUrl();
  const fine = [{ verdict: "ok", reason: expect.stringMatching(/^PostgreSQL 1\d.* has what the store needs/) }];
  expect(await check(url)).toEqual(fine);
  expect(await server.query(url, "SELECT 1 FROM pg_namespace WHERE nspname = '$schema'")).toEqual([]);
  await open(url);
  expect(await check(url)).toEqual(fine);
});

test("each missing privilege is named with the statement that grants it", async () => {
  const url = server.newUrl();
  const schema = schemaOf(url);
  const user = await asUser(url, "restricted");
  /** Executes the statements of the remedy. */
  const follow = async ([found]: readonly StoreFinding[]) =>
    await server.query(url, /: ([A-Z].*;)$/.exec(found?.fix ?? "")?.[1] ?? "");

  const missing = await check(user);
  expect(missing).toEqual(
    says("fail", /does not exist, and the user restricted may not create it$/, `CREATE SCHEMA "${schema}"`),
  );
  await server.query(url, "CREATE SCHEMA $schema");
  const unused = await check(user);
  expect(unused).toEqual(
    says("fail", `^the user restricted may not use the schema "${schema}"$`, "GRANT USAGE, CREATE"),
  );
  await server.query(url, "GRANT USAGE ON SCHEMA $schema TO restricted");
  const empty = await check(user);
  expect(empty).toEqual(says("fail", /may not create tables in the schema/, "GRANT USAGE, CREATE"));
  await follow(empty);
  await open(url);
  const closed = await check(user);
  expect(closed).toEqual(
    says("fail", /may not read and write all tables .*: about, counters, .*fences/, "GRANT SELECT"),
  );
  await follow(closed);
  await open(user, "two");
  const foreign = await check(user);
  expect(foreign).toEqual(
    says("warn", /^the tables belong to postgres, so the user restricted cannot change them/, 'GRANT "postgres" TO'),
  );
  await follow(foreign);
  expect(await check(user)).toEqual([{ verdict: "ok", reason: expect.any(String) }]);
});

test("settings that lose accepted events in a crash and a read-only user are reported", async () => {
  const url = server.newUrl();
  const user = await asUser(url, "careless", "SUPERUSER");
  await server.query(url, "ALTER ROLE careless SET synchronous_commit = off");
  expect(await check(user)).toEqual(
    says("warn", /^synchronous_commit is off: .* accepted events may be lost$/, "for the user careless"),
  );
  await server.query(url, "ALTER ROLE careless RESET ALL; ALTER ROLE careless SET default_transaction_read_only = on");
  expect(await check(user)).toEqual(
    says("fail", /^transactions of the user careless are read-only$/, "default_transaction_read_only"),
  );
});

test("a clock that differs by two seconds in either direction is reported", async () => {
  const url = server.newUrl();
  expect(await check(url, () => Date.now() + 2_500)).toEqual(
    says("warn", /^the clock of this machine is 2\.\d s ahead of/, "Synchronize"),
  );
  expect(await check(url, () => Date.now() - 2_500)).toEqual(
    says("warn", /^the clock of this machine is 2\.\d s behind that/, "Synchronize"),
  );
  expect(await check(url, () => Date.now() + 1_000)).toMatchObject([{ verdict: "ok" }]);
});

test("exhausted connections are measured against the smallest limit", async () => {
  const url = server.newUrl();
  // The check itself needs two.
  const user = await asUser(url, "limited", "SUPERUSER CONNECTION LIMIT 5");
  expect(await check(user)).toEqual(
    says("warn", /^3 connections to the database are left, .* up to 12$/, "max_connections"),
  );
});

test("two gateways with the same name are reported, but not those of another schema", async () => {
  const url = server.newUrl();
  const watch = async (name: string, at = url) => {
    const store = await open(at, name);
    await store.begin(Date.now());
    store.nodes?.watch({ work() {}, note() {}, lost() {} });
  };
  await watch("twin");
  await watch("alone");
  await watch("alone", server.newUrl());
  await watch("twin");
  await expect
    .poll(() => check(url))
    .toEqual(
      says(
        "fail",
        /^more than one gateway runs under the node name twin,/,
        "a gateway.node and a state directory of its own",
      ),
    );
});

test("an unreachable database has no findings, because opening it reports the error", async () => {
  expect(await check("postgres://postgres@127.0.0.1:1/postgres")).toEqual([]);
});

describe("a server of another kind", () => {
  async function factsOf(changes: Partial<Facts>, at = Date.parse("2026-11-12")): Promise<readonly StoreFinding[]> {
    const url = server.newUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return findingsOf({ ...(await readFacts(client, "x")), ...changes }, { schema: "x", at });
    } finally {
      await client.end();
    }
  }

  test("an old version is an error, and one without updates is a warning from its end-of-life date", async () => {
    expect(await factsOf({ version: "13.22", number: 130_022 })).toEqual(
      says("fail", /PostgreSQL 13\.22, and the store needs 14/, "Upgrade"),
    );
    const fourteen = { version: "14.20", number: 140_020 };
    expect(await factsOf(fourteen)).toEqual(
      says("warn", /^PostgreSQL 14\.20 has had no updates since 2026-11-12/, "PostgreSQL 18"),
    );
    expect(await factsOf(fourteen, Date.parse("2026-11-11"))).toEqual([]);
  });

  test("a replica is reported as such", async () => {
    expect(await factsOf({ replica: true, readOnly: true })).toEqual(
      says("fail", /^the server is a replica/, "primary"),
    );
  });
});

test("a listen address with more than a host and a port is rejected", async () => {
  for (const wrong of ["", "db:5432/other", "user@db", "db:port"]) {
    const opening = postgres.open({
      url: `${server.newUrl()}&listen=${encodeURIComponent(wrong)}`,
      now: Date.now,
      owner: false,
      node: "x",
    });
    await expect(opening).rejects.toThrow(`listen=${wrong} of state.url is not a host, or a host and a port`);
  }
});

describe.skipIf(!hasPooler)("behind a pooler in transaction mode", () => {
  const through = usePooler(server);
  /** The address of the pooler, with the server itself for the connection that listens. */
  const past = (url: string) => `${through(url)}&listen=${new URL(url).host}`;

  test("missing notifications are reported with their consequence", async () => {
    const url = server.newUrl();
    expect(await check(through(url))).toEqual(
      says("warn", /^notifications of the database do not arrive, .*\/stop up to 1 s later$/, "listen=HOST:PORT"),
    );
  });

  test("with a listen address, notifications arrive and notes reach other nodes", async () => {
    const url = server.newUrl();
    expect(await check(past(url))).toMatchObject([{ verdict: "ok" }]);
    const [one, two] = [await open(past(url), "one"), await open(past(url), "two")];
    await one.begin(Date.now());
    const notes: unknown[] = [];
    one.nodes?.watch({ work() {}, note: (note) => notes.push(note), lost() {} });
    await expect
      .poll(async () => {
        await two.nodes?.send({ topic: "stop", body: 1 });
        return notes;
      })
      .toContainEqual({ topic: "stop", body: 1 });
  });
});
