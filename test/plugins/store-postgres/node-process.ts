/**
 * A node without a gateway: it claims the lanes that it hears of, and answers each event with one message to a platform
 * that listens on a port of this machine. `node node-process.ts NODE URL PORT`
 */
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { OutboxRow, Store, Unit } from "../../../core/state/index.ts";
import "../../support/plugin-imports.ts";

const { TEST_PROGRAM } = process.env;
const source = "../../../plugins/store-postgres/index";
/** From the program as the build bundles it where there is one: it starts with less work. */
const module = TEST_PROGRAM === undefined ? `${source}.ts` : `${TEST_PROGRAM}/plugins/store-postgres/index.js`;
const { postgres } = (await import(module)) as typeof import("../../../plugins/store-postgres/index.ts");
const [node = "", url = "", port = ""] = process.argv.slice(2);
const pauseMs = 50;
/** What sending takes at most; a send is not begun with less of the lease left. */
const sendMs = 500;

const platform = connect(Number(port), "127.0.0.1");
await once(platform, "connect");
const replies = createInterface({ input: platform })[Symbol.asyncIterator]();
let sending = Promise.resolve(true);

/**
 * Sends one line and waits until the platform has it. Resolves with `false` if it was not sent, because too little of
 * the lease is left.
 */
function send(line: string): Promise<boolean> {
  sending = sending.then(async () => {
    if ((store.nodes?.leaseLeft() ?? 0) < sendMs) return false;
    platform.write(`${line}\n`);
    await replies.next();
    return true;
  });
  return sending;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));

async function opened(): Promise<Store> {
  for (;;) {
    try {
      const store = await postgres.open({ url, now: Date.now, owner: true, node });
      await store.begin(Date.now());
      return store;
    } catch {
      await pause();
    }
  }
}

const store = await opened();
const running = new Set<string>();

/** Repeats a write while the database is away. */
async function persist<Result>(write: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "database_away")) throw error;
      await pause();
    }
  }
}

const ending = { outcome: "answered", reason: "sent" } as const;

async function deliver(unit: Unit, row: OutboxRow): Promise<void> {
  let { doubts } = row;
  if (unit.stage === "delivery") {
    if (row.state === "sending") {
      await persist(() => store.doubted(row.id, { decisions: [] }));
      doubts += 1;
    }
    await persist(() => store.sending(row.id));
  }
  if (!(await send(`${unit.lane} ${unit.id} ${doubts}`))) {
    await persist(() => store.notSent(row.id));
    throw new Error("Too little of the lease is left.");
  }
  const sent = { rowId: row.id, receipt: { messageId: unit.id }, at: Date.now() };
  await persist(() => store.settle({ unitId: unit.id, at: Date.now(), ...ending, decisions: [], sent }));
}

async function run(unit: Unit): Promise<void> {
  const address = { channel: "c", account: "a", chat: unit.lane };
  const part = { kind: "text", chars: 1, body: unit.id } as const;
  const rows = [{ address, operation: "send", part }] as const;
  const isTurn = unit.stage === "turn";
  const [row] = await persist(() =>
    isTurn ? store.say({ unitId: unit.id, at: Date.now(), rows, ending }) : store.unsent(unit.id),
  );
  if (row === undefined)
    await persist(() => store.settle({ unitId: unit.id, at: Date.now(), ...ending, decisions: [] }));
  else await deliver(unit, row);
}

/** Runs a lane until nothing of it is due. */
async function serve(lane: string): Promise<void> {
  if (running.has(lane)) return;
  running.add(lane);
  try {
    for (;;) {
      const { unit } = await persist(() => store.claim(lane, { now: Date.now(), limit: 1 }));
      if (unit === null) return;
      await run(unit).catch(() => persist(() => store.handBack(unit.id, { due: 0 })));
    }
  } catch {
    // The lease is lost. The lane is reported again while something waits in it.
  } finally {
    running.delete(lane);
  }
}

store.nodes?.watch({
  work(lanes) {
    for (const lane of lanes) void serve(lane);
  },
  note() {},
  lost() {},
});
