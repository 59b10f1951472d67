/** Owns the write connection. One request is one transaction, and flushes and checkpoints run here. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type Emitter, faultText, onMessage } from "../../../listeners/index.ts";
import { type Identity, type IdentityRecord, openIdentity } from "../../identity.ts";
import { isLockFree } from "../../lock.ts";
import { readLeftLog } from "../../log-file.ts";
import { examineTables } from "../database/examine.ts";
import { examineIdentity, examineLog, identify } from "../database/identify.ts";
import { migrate } from "../database/migrations.ts";
import { makeShrinkable, prepareForShrinking } from "../database/shrinking.ts";
import { createStatements } from "../database/statements.ts";
import { createWriteContext, type TransactionContext } from "../database/writer-database.ts";
import { asRequest } from "./check-messages.ts";
import { diskError, endsTransaction, packFailure } from "./failure.ts";
import {
  createOperations,
  type Failure,
  type OperationName,
  type Operations,
  type Reply,
  type Request,
  type WriterOptions,
} from "./protocol.ts";

/**
 * Pages of log after which a checkpoint runs. Small checkpoints keep the longest pause short; large ones copy
 * frequently used pages less often. `bench/store.ts` shows that pauses grow above a thousand.
 */
const checkpointPages = 1_000;
const busyMs = 5_000;
/** How outdated the number of commits in the directory's record may be, in milliseconds. */
const noteMs = 250;

interface Opened {
  readonly db: DatabaseSync;
  readonly identity: Identity;
  readonly record: IdentityRecord;
}

function openDatabase({ file, directory, used, owner, isAlone }: WriterOptions): Opened {
  // Beside a running gateway there is nothing left by a killed one.
  const before = isAlone && (owner || isLockFree(directory)) ? readLeftLog(file) : undefined;
  const db = new DatabaseSync(file, { timeout: busyMs });
  try {
    if (examineTables(db, { directory, used })) {
      examineIdentity(db, directory);
      examineLog(db, { directory, file, before });
    }
    prepareForShrinking(db);
    if (db.prepare("PRAGMA journal_mode").get()?.journal_mode !== "wal") db.exec("PRAGMA journal_mode = WAL");
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -2000; PRAGMA foreign_keys = OFF`);
    migrate(db, directory);
    if (owner) makeShrinkable(db);
    db.exec("PRAGMA temp_store = MEMORY");
    const identity = identify(db);
    return { db, identity, record: openIdentity(directory, identity) };
  } catch (error) {
    closeUntouched(db, file);
    throw error;
  }
}

/**
 * Closes a rejected database without changing it. The last writable connection would otherwise run a checkpoint and
 * delete the log.
 */
function closeUntouched(db: DatabaseSync, file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  let reader: DatabaseSync | undefined;
  try {
    if (log > 0) {
      reader = new DatabaseSync(file, { readOnly: true });
      reader.prepare("PRAGMA user_version").get();
    }
  } catch {
    // The file cannot even be read, so no checkpoint runs.
  }
  db.close();
  reader?.close();
}

/**
 * Operations with a single statement need no savepoint, because SQLite undoes a failed statement. An acceptance undoes
 * its first statement itself.
 */
const singleStatement: ReadonlySet<OperationName> = new Set([
  "accept",
  "set",
  "delete",
  "swap",
  "setPreview",
  "updateSession",
  "recordCall",
  "releaseCall",
  "pass",
]);

/**
 * These operations, which run in every turn, check everything before they write. Savepoints for them would take a tenth
 * of the writer's time, only for unforeseen errors. Such an error undoes the whole transaction instead.
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

function runOperation(
  db: DatabaseSync,
  context: TransactionContext,
  operations: Operations,
  name: OperationName,
  input: unknown,
): unknown {
  const operation = operations[name] as (input: unknown) => unknown;
  if (singleStatement.has(name) || checksFirst.has(name)) return operation(input);
  db.exec("SAVEPOINT operation");
  try {
    const result = context.guard(() => operation(input));
    db.exec("RELEASE operation");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK TO operation; RELEASE operation");
    throw error;
  }
}

function runAll(
  db: DatabaseSync,
  context: TransactionContext,
  operations: Operations,
  { names, inputs }: NonNullable<Request>,
): Reply {
  const failures: (readonly [number, Failure])[] = [];
  const results: unknown[] = new Array(names.length);
  let any = false;
  for (const [index, name] of names.entries()) {
    const before = context.writes();
    try {
      const result = runOperation(db, context, operations, name, inputs[index]);
      results[index] = result;
      if (result !== null && result !== undefined) any = true;
    } catch (error) {
      if (endsTransaction(error) || !db.isTransaction || (checksFirst.has(name) && context.writes() > before))
        throw error;
      failures.push([index, packFailure(error)]);
    }
  }
  return { type: "done", results: any ? results : null, failures };
}

interface Transaction {
  run(request: NonNullable<Request>): Reply;
  /** Writes the number of flushed commits to the directory's record. */
  note(): void;
  /** Does the same with a delay, because each such write makes the next flush slower. */
  noteSoon(): void;
}

function createTransaction({ db, identity, record }: Opened, { directory, slowFlushMs }: WriterOptions): Transaction {
  const sql = createStatements(db);
  const context = createWriteContext(sql);
  const operations = createOperations(context);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let synchronous: "FULL" | "NORMAL" | undefined;
  // Other processes may add commits. The number is then too low, which is acceptable.
  let { commits } = identity;
  let noted = commits;
  let planned = false;

  const setSynchronous = (wanted: "FULL" | "NORMAL") => {
    if (synchronous === wanted) return;
    db.exec(`PRAGMA synchronous = ${wanted}`);
    synchronous = wanted;
  };

  const run = (request: NonNullable<Request>): Reply => {
    try {
      setSynchronous(request.durable ? "FULL" : "NORMAL");
      db.exec("BEGIN IMMEDIATE");
      context.open();
      const before = context.writes();
      const reply = runAll(db, context, operations, request);
      const flushed = request.durable && context.writes() > before ? 1 : 0;
      context.count("commits", flushed);
      context.finish();
      db.exec("COMMIT");
      commits += flushed;
      if (request.durable && slowFlushMs > 0) Atomics.wait(pause, 0, 0, slowFlushMs);
      return reply;
    } catch (error) {
      try {
        if (db.isTransaction) db.exec("ROLLBACK");
      } catch {
        // SQLite has already rolled back. The first error is the one to report.
      }
      return { type: "undone", failure: packFailure(diskError(error, directory)) };
    }
  };
  const transaction: Transaction = {
    run,
    note() {
      planned = false;
      if (commits === noted) return;
      noted = commits;
      record.note(commits);
    },
    noteSoon() {
      if (planned || commits === noted) return;
      planned = true;
      setTimeout(transaction.note, noteMs).unref();
    },
  };
  return transaction;
}

/** Creates the checkpoint function. It runs after the reply was sent, so that no caller waits for it. */
function createCheckpoint(db: DatabaseSync): () => void {
  const look = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const fold = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return () => {
    try {
      const { log, checkpointed } = look.get() ?? {};
      if (Number(log) - Number(checkpointed) >= checkpointPages) fold.get();
    } catch {
      // The disk has no room for the checkpoint. The log keeps everything, and the next transaction tries again.
    }
  };
}

/** The writer's end of the line to the queue. */
export interface WriterPort extends Emitter {
  postMessage(reply: Reply): void;
  close(): void;
}

/**
 * Opens the database, answers `ready` or `refused`, and then each request. `fail` ends the writer, with what a request
 * could not be answered.
 */
export function serveWrites(port: WriterPort, options: WriterOptions, fail: (error: unknown) => void): void {
  const reply = (message: Reply) => port.postMessage(message);
  let opened: Opened;
  try {
    opened = openDatabase(options);
  } catch (error) {
    reply({ type: "refused", failure: packFailure(diskError(error, options.directory)) });
    return;
  }
  const { db, record } = opened;
  const transaction = createTransaction(opened, options);
  const checkpoint = createCheckpoint(db);
  const receive = ({ request }: { readonly request: Request }): void => {
    if (request !== null) {
      reply(transaction.run(request));
      transaction.noteSoon();
      checkpoint();
    } else {
      transaction.note();
      db.close();
      record.close();
      port.close();
    }
  };
  const source = "the store";
  let hasFailed = false;
  onMessage(port, "message", {
    ...{ source, check: asRequest, handle: receive },
    fault(fault) {
      // More may have been sent before the writer has ended.
      if (!hasFailed) fail(fault.error ?? new Error(faultText(fault)));
      hasFailed = true;
    },
  });
  reply({ type: "ready" });
}
