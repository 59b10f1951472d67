/**
 * The store's rate of acceptance, by the number of callers that wait at once, against SQLite with the same rows in one
 * thread and one transaction for each batch. Run: `node bench/store.ts [--seconds 3] [--slow-flush-ms 0] [--body
 * 1000]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { openSqliteStore } from "../core/state/sqlite/index.ts";
import type { NewEvent, Store } from "../core/state/store.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    "slow-flush-ms": { type: "string", default: "0" },
    body: { type: "string", default: "1000" },
  },
});
const runMs = Number(values.seconds) * 1_000;
const slowFlushMs = Number(values["slow-flush-ms"]);
const text = "x".repeat(Number(values.body));

let serial = 0;
function nextEvent(): NewEvent {
  serial += 1;
  const event = {
    source: "hooks",
    kind: "wake",
    lane: `lane-${serial % 100}`,
    authority: "hook",
    body: { text },
  } as const;
  return { event, id: `${String(serial).padStart(12, "0")}-bench`, at: serial };
}

function inNewDirectory<Result>(run: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), "bench-store-"));
  return run(directory).finally(() => rmSync(directory, { recursive: true }));
}

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

function figures(times: number[], elapsedMs: number, each = 1): Figures {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    perSecond: Math.round((times.length * each * 1_000) / elapsedMs),
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
  };
}

async function measure(callers: number, step: () => Promise<unknown>): Promise<Figures> {
  const times: number[] = [];
  const start = performance.now();
  const caller = async () => {
    for (let begun = start; begun - start < runMs; ) {
      await step();
      const ended = performance.now();
      times.push(ended - begun);
      begun = ended;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return figures(times, performance.now() - start);
}

async function withStore(run: (store: Store) => Promise<Figures>): Promise<Figures> {
  return inNewDirectory(async (directory) => {
    const store = await openSqliteStore({ directory, now: () => serial, slowFlushMs, writerThread: true });
    await store.begin(0);
    return run(store).finally(() => store.close());
  });
}

/** The whole path of an event: accepted, claimed, answered, sent, settled. */
async function wholeWay(store: Store): Promise<void> {
  const taken = nextEvent();
  const lane = taken.id;
  await store.accept({ ...taken, event: { ...taken.event, lane } });
  const { unit } = await store.claim(lane, { now: serial, limit: 10 });
  if (!unit) throw new Error("The event did not wait in its lane.");
  const address = { channel: "bench", account: "default", chat: lane };
  const part = { kind: "text", chars: 2, body: "ok" };
  const ending = { outcome: "answered", reason: "sent" } as const;
  const [row] = await store.say({ unitId: unit.id, at: serial, rows: [{ address, operation: "send", part }], ending });
  if (row) await store.sent(row.id, { messageId: lane }, { at: serial });
  await store.settle({ unitId: unit.id, at: serial, ...ending, decisions: [] });
}

function plainInserts(rows: number): Promise<Figures> {
  return inNewDirectory(async (directory) => {
    const db = new DatabaseSync(join(directory, "plain.db"));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    db.exec("CREATE TABLE inbox (sequence INTEGER PRIMARY KEY, id TEXT, at INTEGER, lane TEXT, body TEXT)");
    const insert = db.prepare("INSERT INTO inbox (id, at, lane, body) VALUES (?, ?, ?, ?)");
    const times: number[] = [];
    const start = performance.now();
    for (let begun = start; begun - start < runMs; ) {
      db.exec("BEGIN");
      for (let row = 0; row < rows; row++) {
        const { id, at, event } = nextEvent();
        insert.run(id, at, event.lane, JSON.stringify(event.body));
      }
      db.exec("COMMIT");
      const ended = performance.now();
      times.push(ended - begun);
      begun = ended;
    }
    const elapsed = performance.now() - start;
    db.close();
    return figures(times, elapsed, rows);
  });
}

function print(name: string, { perSecond, p50, p99, longest }: Figures): void {
  const milliseconds = [p50, p99, longest].map((time) => time.toFixed(2).padStart(8)).join(" ");
  console.log(`${name.padEnd(34)} ${String(perSecond).padStart(8)} ${milliseconds}`);
}

console.log(
  `${"".padEnd(34)} ${"per s".padStart(8)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)} ${"max ms".padStart(8)}`,
);
for (const callers of [1, 16, 128, 1_000]) {
  print(`plain inserts, ${callers} in a transaction`, await plainInserts(callers));
  print(`accept, ${callers} callers`, await withStore((store) => measure(callers, () => store.accept(nextEvent()))));
  print(
    `whole way of an event, ${callers} callers`,
    await withStore((store) => measure(callers, () => wholeWay(store))),
  );
}
