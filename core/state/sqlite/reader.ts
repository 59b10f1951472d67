/** The connection that reads, and what it answers: all that is committed. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HostError, reasonOf } from "../../contract/index.ts";
import type { Store } from "../store.ts";
import { copyReads } from "./copying/reads.ts";
import { createStatements } from "./database/statements.ts";
import { eventQueueReads } from "./events/event-queue.ts";
import { inboxReads } from "./events/inbox.ts";
import { outboxReads } from "./events/outbox.ts";
import { writerChangeReads } from "./events/writer-changes.ts";
import { decisionReads } from "./records/decisions.ts";
import { keyValueReads } from "./records/key-value.ts";
import { modelCallReads } from "./records/model-calls.ts";
import { sessionReportReads } from "./records/session-reports.ts";
import { sessionReads } from "./records/sessions.ts";
import { summaryReads } from "./records/summaries.ts";
import { transcriptReads } from "./records/transcripts.ts";
import { readError } from "./thread/failure.ts";
import { removalReads } from "./thread/removal-methods.ts";

interface StateOptions {
  /** State directory. */
  readonly directory: string;
  /** Epoch milliseconds; decides what has expired. */
  readonly now: () => number;
}

export function openReader(file: string, directory: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    // Fresh rows are read from the file anyway: cached pages are hardly ever needed twice.
    db.exec("PRAGMA cache_size = -500");
    return db;
  } catch (error) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(error) }, { cause: error });
  }
}

/** Reads are synchronous, and see what is committed; the promise is the port's. */
function createReads(db: DatabaseSync, now: () => number) {
  const sql = createStatements(db);
  return {
    ...inboxReads(sql, now),
    ...eventQueueReads(sql),
    ...outboxReads(sql, now),
    ...writerChangeReads(sql),
    ...sessionReads(sql),
    ...transcriptReads(sql),
    ...summaryReads(sql),
    ...sessionReportReads(sql),
    ...decisionReads(sql),
    ...modelCallReads(sql),
    ...keyValueReads(sql, now),
    ...removalReads(sql),
    ...copyReads(sql),
  };
}

type Reads = ReturnType<typeof createReads>;
export type Read = <Result>(reading: (reads: Reads) => Result) => Promise<Result>;

export function readWith(db: DatabaseSync, { directory, now }: StateOptions): Read {
  const reads = createReads(db, now);
  return async (reading) => {
    if (!db.isOpen) throw new HostError("state_unreadable", { directory, reason: "the store is closed" });
    try {
      return reading(reads);
    } catch (error) {
      throw readError(error, directory);
    }
  };
}

export function viewMethods(read: Read) {
  return {
    event: (id) => read((reads) => reads.event(id)),
    events: (filter) => read((reads) => reads.events(filter)),
    body: (eventId) => read((reads) => reads.body(eventId)),
    sessionReports: (filter) => read((reads) => reads.sessionReports(filter)),
    stats: () => read((reads) => reads.stats()),
    spent: (scopes) => read((reads) => reads.spent(scopes)),
    usage: (filter) => read((reads) => reads.usage(filter)),
  } satisfies Partial<Store>;
}

/** A view of a state that a gateway has open. */
export type StoreReader = Pick<Store, "event" | "events" | "stats" | "unsent" | "waitingLanes" | "close">;

/** Without the connection that writes, which a store opens, brings up to date and closes with a checkpoint. */
export async function openSqliteReader({ directory, now }: StateOptions): Promise<StoreReader> {
  const db = openReader(join(directory, "state.db"), directory);
  const read = readWith(db, { directory, now });
  return {
    ...viewMethods(read),
    unsent: (unitId) => read((reads) => reads.unsent(unitId)),
    waitingLanes: () => read((reads) => reads.waitingLanes()),
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
