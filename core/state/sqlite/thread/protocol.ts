/** What the two threads say to each other. */
import type { ErrorCode } from "../../../contract/index.ts";
import { copyWrites } from "../copying/writes.ts";
import { shrinkWrites } from "../database/shrinking.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { acceptanceWrites } from "../events/acceptance.ts";
import { claimWrites } from "../events/claim.ts";
import { eventQueueWrites } from "../events/event-queue.ts";
import { inboxWrites } from "../events/inbox.ts";
import { moveWrites } from "../events/moves.ts";
import { outboxWrites } from "../events/outbox.ts";
import { overdueWrites } from "../events/overdue.ts";
import { settlementWrites } from "../events/settlement.ts";
import { unitWrites } from "../events/units.ts";
import { writerChangeWrites } from "../events/writer-changes.ts";
import { decisionWrites } from "../records/decisions.ts";
import { keyValueWrites } from "../records/key-value.ts";
import { modelCallWrites } from "../records/model-calls.ts";
import { sessionWrites } from "../records/sessions.ts";
import { summaryWrites } from "../records/summaries.ts";
import { pruneWrites } from "../removal/prune.ts";
import { removalWrites } from "../removal/removals.ts";

/** Every operation of the writer thread, by name. Each takes one value, and both ways only what can be cloned. */
export function createOperations(context: WriteContext) {
  return {
    ...acceptanceWrites(context),
    ...inboxWrites(context),
    ...claimWrites(context),
    ...unitWrites(context),
    ...writerChangeWrites(context),
    ...decisionWrites(context),
    ...settlementWrites(context),
    ...eventQueueWrites(context),
    ...outboxWrites(context),
    ...sessionWrites(context),
    ...summaryWrites(context),
    ...keyValueWrites(context),
    ...modelCallWrites(context),
    ...pruneWrites(context),
    ...overdueWrites(context),
    ...shrinkWrites(context),
    ...moveWrites(context),
    ...removalWrites(context),
    ...copyWrites(context),
    /** Does nothing: when it is answered, everything that was asked before is committed. */
    pass(): void {},
  };
}

export type Operations = ReturnType<typeof createOperations>;
export type OperationName = keyof Operations;
export type InputOf<Name extends OperationName> = Parameters<Operations[Name]>[0];
export type ResultOf<Name extends OperationName> = ReturnType<Operations[Name]>;

export interface WriterOptions {
  readonly directory: string;
  readonly file: string;
  readonly slowFlushMs: number;
  /** A gateway has used the directory, so that a database without tables is one that was lost. */
  readonly used: boolean;
  /** See `SqliteStoreOptions`. */
  readonly isAlone: boolean;
  /** The caller owns the state, and starts on it: what takes a moment and is done once is done now. */
  readonly owner: boolean;
}

/** An error on its way between threads: a class does not survive the journey. */
export interface Failure {
  readonly code: ErrorCode | null;
  readonly details: Readonly<Record<string, string | number>>;
  readonly message: string;
}

/** One transaction: the operation `names[i]`, with `inputs[i]`. `null` asks the writer to close. */
export type Request = {
  readonly names: readonly OperationName[];
  readonly inputs: readonly unknown[];
  readonly durable: boolean;
} | null;

export type Reply =
  | { readonly type: "ready" }
  /** `results` is `null` when every operation resolves with nothing, which is what new events do. */
  | {
      readonly type: "done";
      readonly results: readonly unknown[] | null;
      readonly failures: readonly (readonly [number, Failure])[];
    }
  /** Nothing of the transaction happened. */
  | { readonly type: "undone"; readonly failure: Failure }
  /** The writer could not open the database. */
  | { readonly type: "refused"; readonly failure: Failure };
