/**
 * The rate at which the PostgreSQL store accepts events, by the number of callers that wait at once, against `pgbench`
 * inserting the same rows with a commit for each, at the same concurrency and on the same server. Also the way from
 * acceptance to claim over many lanes, the same work on SQLite, and what an event, a webhook and a chat turn cost on
 * the wire. Needs `pgbench` in the search path. Run: `node --conditions=service-gateway-source bench/postgres.ts
 * [--seconds 5] [--rounds 3]`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { NewEvent, Store } from "../core/state/store.ts";
import "../test/support/plugin-imports.ts";
import { openSqliteStore } from "../core/state/sqlite/index.ts";
import { createPostgres } from "../test/support/postgres-server.ts";
import { printGatewayTraffic } from "./gateway-traffic.ts";
import { countTraffic } from "./wire-traffic.ts";

const { postgres } = await import("../plugins/store-postgres/index.ts");

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "5" }, rounds: { type: "string", default: "3" } },
});
const seconds = Number(values.seconds);
const lanes = 1_000;
const text = "x".repeat(1_000);

let serial = 0;
function nextEvent(lane = `lane-${serial % lanes}`): NewEvent {
  serial += 1;
  const event = { source: "hooks", kind: "wake", lane, authority: "hook", body: { text } } as const;
  return { event, id: `${String(serial).padStart(12, "0")}-bench`, at: serial };
}

async function rateOf(callers: number, step: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let steps = 0;
  const caller = async () => {
    while (performance.now() - start < seconds * 1_000) {
      await step();
      steps += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (steps * 1_000) / (performance.now() - start);
}

/** The whole path of an event: accepted and taken, answered, sent, settled. */
async function wholeWay(store: Store): Promise<void> {
  const lane = `lane-of-${serial}`;
  const { unit } = await store.accept({ ...nextEvent(lane), claim: true });
  if (unit === undefined) throw new Error("The event was not taken.");
  const address = { channel: "bench", account: "default", chat: lane };
  const ending = { outcome: "answered", reason: "sent" } as const;
  const rows = [{ address, operation: "send", part: { kind: "text", chars: 2, body: "ok" } }] as const;
  const [row] = await store.say({ unitId: unit.id, at: serial, rows, ending });
  const sent = { rowId: row?.id ?? 0, receipt: { messageId: lane }, at: serial };
  await store.settle({ unitId: unit.id, at: serial, ...ending, decisions: [], sent });
}

/** The times from the call of `accept` until the event is taken, at a fixed rate over many lanes. */
async function timesToClaim(store: Store, perSecond: number): Promise<readonly number[]> {
  const times: number[] = [];
  const work: Promise<void>[] = [];
  const start = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, start + (index * 1_000) / perSecond - performance.now())),
    );
    const begun = performance.now();
    work.push(
      store.accept({ ...nextEvent(`claimed-${index % lanes}`), claim: true }).then(async ({ unit }) => {
        if (unit === undefined) return;
        times.push(performance.now() - begun);
        await store.settle({ unitId: unit.id, at: serial, outcome: "silent", reason: "bench", decisions: [] });
      }),
    );
  }
  await Promise.all(work);
  return times.sort((a, b) => a - b);
}

/** Transactions per second of `pgbench` with one insert each, into the table of the store with all its indexes. */
function insertsPerSecond(url: string, clients: number): number {
  const directory = mkdtempSync(join(tmpdir(), "bench-postgres-"));
  const script = join(directory, "insert.sql");
  const schema = new URL(url).searchParams.get("schema");
  writeFileSync(
    script,
    `\\set lane random(1, ${lanes})
INSERT INTO ${schema}.inbox
  (id, state, attempts, accepted_at, due, source, kind, lane, authority, extend, characters, body)
VALUES
  (gen_random_uuid()::text, 2, 0, 1, 0, 'hooks', 'wake', 'lane-' || :lane, 'hook', false, 1000,
  '{"text":"${text}"}');\n`,
  );
  const address = new URL(url);
  const options = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2", "-T", String(seconds), "-f", script];
  const at = ["-h", address.hostname, "-p", address.port, "-U", "postgres", "postgres"];
  const output = execFileSync("pgbench", [...options, ...at], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  rmSync(directory, { recursive: true });
  return Number(/tps = ([\d.]+)/.exec(output)?.[1]);
}

/** Prints what one event costs on the wire, one at a time, when all connections are open. */
async function printTraffic(url: string): Promise<void> {
  const traffic = await countTraffic(url);
  const address = new URL(url);
  address.port = String(traffic.port);
  const store = await postgres.open({ url: address.href, now: () => serial, owner: true, node: "counted" });
  await store.begin(0);
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["accept of a webhook with 1,000 characters", () => store.accept(nextEvent())],
    ["whole way of an event with a reply of two characters", () => wholeWay(store)],
  ];
  for (const [name, way] of ways) {
    await way();
    traffic.take();
    const events = 20;
    for (let event = 0; event < events; event += 1) await way();
    const { results, sent, received } = traffic.take();
    const each = [results, sent, received].map((count) => Math.round(count / events));
    console.log(`${name}: ${each[0]} round trips, ${each[1]} bytes to the database, ${each[2]} back`);
  }
  await store.close();
  traffic.close();
}

/** The same work on the embedded store, in alternation: what a single node pays for a database elsewhere. */
async function compareWithSqlite(store: Store): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "bench-sqlite-"));
  const embedded = await openSqliteStore({ directory, now: () => serial, writerThread: true });
  await embedded.begin(0);
  const works: readonly (readonly [string, (on: Store) => Promise<unknown>])[] = [
    ["whole way of an event", wholeWay],
    ["accept", (on) => on.accept(nextEvent())],
  ];
  for (const [name, work] of works) {
    for (const callers of [1, 16, 128]) {
      const ratios: number[] = [];
      const rates: (readonly [number, number])[] = [];
      for (let round = 0; round < Number(values.rounds); round += 1) {
        const reference = await rateOf(callers, () => work(embedded));
        const ours = await rateOf(callers, () => work(store));
        rates.push([ours, reference]);
        ratios.push(ours / reference);
      }
      const [ours, reference] = [0, 1].map((side) => median(rates.map((rate) => rate[side] ?? 0)).toFixed(0));
      console.log(
        `${name}, ${callers} callers: PostgreSQL ${ours} per s; SQLite ${reference} per s; median ratio ` +
          `${median(ratios).toFixed(2)}`,
      );
    }
  }
  await embedded.close();
  rmSync(directory, { recursive: true });
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

const server = createPostgres();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    server.kill();
    process.exit(128 + constants.signals[signal]);
  });
}
await server.start();
try {
  const url = server.newUrl();
  const store = await postgres.open({ url, now: () => serial, owner: true, node: "bench" });
  await store.begin(0);
  // First, because the server still writes for a while what the other figures have made.
  const times = await timesToClaim(store, 200);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  console.log(
    `from acceptance to claim, 200 per s over ${lanes} lanes: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms`,
  );
  for (const callers of [16, 128]) {
    const ratios: number[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const reference = insertsPerSecond(url, callers);
      const accepted = await rateOf(callers, () => store.accept(nextEvent()));
      ratios.push(accepted / reference);
      console.log(
        `accept, ${callers} callers: ${accepted.toFixed(0)} per s; pgbench: ${reference.toFixed(0)} per s; ` +
          `ratio ${(accepted / reference).toFixed(2)}`,
      );
    }
    console.log(`accept, ${callers} callers: median ratio ${median(ratios).toFixed(2)}`);
  }
  await compareWithSqlite(store);
  await store.close();
  await printTraffic(url);
  await printGatewayTraffic(server.newUrl());
} finally {
  await server.remove();
}
