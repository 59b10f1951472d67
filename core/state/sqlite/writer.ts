/**
 * The thread that owns the write connection. One request is one transaction; its flush and the
 * checkpoints happen here, so that the main thread never waits for the disk.
 */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { createDesk, type WriterDesk } from "./desk.ts";
import { diskError, endsTransaction, packFailure } from "./failure.ts";
import { nameOf } from "./operation-codes.ts";
import {
  createOperations,
  type Failure,
  type OperationName,
  type Operations,
  type Reply,
  type Request,
  type WriterOptions,
} from "./protocol.ts";
import { migrate } from "./schema.ts";
import { createStatements } from "./statements.ts";

/**
 * Pages of log after which they are folded into the database. Small checkpoints keep the longest pause short,
 * large ones copy hot pages less often; `bench/store.ts` shows the longest waits growing above a thousand.
 */
const checkpointPages = 1_000;
const busyMs = 5_000;

function openDatabase({ file, directory }: WriterOptions): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: busyMs });
  try {
    if (db.prepare("PRAGMA journal_mode").get()?.journal_mode !== "wal") db.exec("PRAGMA journal_mode = WAL");
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF`);
    migrate(db, directory);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Operations of one statement need no savepoint: SQLite undoes a failed statement by itself. An acceptance undoes its first itself. */
const singleStatement: ReadonlySet<OperationName> = new Set(["accept", "set", "delete", "swap", "setPreview", "updateSession", "pass"]);

/**
 * The operations of every turn check all they need before they write. A savepoint for each would be a tenth of the
 * writer's time, for errors that no check foresees; such a one undoes the whole transaction instead.
 */
const checksFirst: ReadonlySet<OperationName> = new Set([
  "claim",
  "say",
  "sending",
  "notSent",
  "doubted",
  "sent",
  "unsendable",
  "settle",
  "handBack",
]);

function runOperation(db: DatabaseSync, desk: WriterDesk, operations: Operations, name: OperationName, input: unknown): unknown {
  const operation = operations[name] as (input: unknown) => unknown;
  if (singleStatement.has(name) || checksFirst.has(name)) return operation(input);
  db.exec("SAVEPOINT operation");
  try {
    const result = desk.guard(() => operation(input));
    db.exec("RELEASE operation");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK TO operation; RELEASE operation");
    throw error;
  }
}

function runAll(db: DatabaseSync, desk: WriterDesk, operations: Operations, { codes, inputs }: NonNullable<Request>): Reply {
  const failures: (readonly [number, Failure])[] = [];
  const results: unknown[] = new Array(codes.length);
  let any = false;
  for (const [index, code] of codes.entries()) {
    const name = nameOf(code);
    const before = desk.writes();
    try {
      const result = runOperation(db, desk, operations, name, inputs[index]);
      results[index] = result;
      if (result !== null && result !== undefined) any = true;
    } catch (error) {
      if (endsTransaction(error) || !db.isTransaction || (checksFirst.has(name) && desk.writes() > before)) throw error;
      failures.push([index, packFailure(error)]);
    }
  }
  return { type: "done", results: any ? results : null, failures };
}

function createTransaction(db: DatabaseSync, { directory, slowFlushMs }: WriterOptions): (request: NonNullable<Request>) => Reply {
  const sql = createStatements(db);
  const desk = createDesk(sql);
  const operations = createOperations(desk);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let synchronous: "FULL" | "NORMAL" | undefined;

  const setSynchronous = (wanted: "FULL" | "NORMAL") => {
    if (synchronous === wanted) return;
    db.exec(`PRAGMA synchronous = ${wanted}`);
    synchronous = wanted;
  };

  return (request) => {
    try {
      setSynchronous(request.durable ? "FULL" : "NORMAL");
      db.exec("BEGIN IMMEDIATE");
      desk.open();
      const reply = runAll(db, desk, operations, request);
      desk.finish();
      db.exec("COMMIT");
      if (request.durable && slowFlushMs > 0) Atomics.wait(pause, 0, 0, slowFlushMs);
      return reply;
    } catch (error) {
      try {
        if (db.isTransaction) db.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself; the first error is the one to tell.
      }
      return { type: "undone", failure: packFailure(diskError(error, directory)) };
    }
  };
}

/** Runs after the answer has left, so that no caller of this transaction waits for it. */
function createCheckpoint(db: DatabaseSync): () => void {
  const look = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const fold = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return () => {
    try {
      const { log, checkpointed } = look.get() ?? {};
      if (Number(log) - Number(checkpointed) >= checkpointPages) fold.get();
    } catch {
      // No room in the database yet: the log keeps everything, and the next transaction tries again.
    }
  };
}

function serve(port: NonNullable<typeof parentPort>, options: WriterOptions): void {
  const reply = (message: Reply) => port.postMessage(message);
  let db: DatabaseSync;
  try {
    db = openDatabase(options);
  } catch (error) {
    reply({ type: "refused", failure: packFailure(diskError(error, options.directory)) });
    return;
  }
  const transaction = createTransaction(db, options);
  const checkpoint = createCheckpoint(db);
  port.on("message", (request: Request) => {
    if (request) {
      reply(transaction(request));
      checkpoint();
    } else {
      db.close();
      port.close();
    }
  });
  reply({ type: "ready" });
}

if (parentPort) serve(parentPort, workerData as WriterOptions);
