/**
 * The embedded store: SQLite by `node:sqlite`, with one connection that writes, in a gateway from a thread of its own,
 * and one that reads.
 */
import { type ErrorCode, HostError, type Json } from "../../contract/index.ts";
import { putAside } from "../copies.ts";
import type { Copying } from "../copying.ts";
import { prepareFile } from "../directory.ts";
import { forgetIdentity, wasUsed } from "../identity.ts";
import type { OutboxRow } from "../outbox-row.ts";
import type { NewEvent, Store, StoredEvent, Unit } from "../store.ts";
import type { WriterChanges } from "../writer-changes.ts";
import { examineFile } from "./database/examine.ts";
import { packEvent } from "./events/acceptance.ts";
import { unpackClaim, unpackTaken } from "./events/claim-result.ts";
import { packSaying } from "./events/outbox.ts";
import { createOwnUnits, type OwnUnits } from "./events/own-units.ts";
import { packSettlement } from "./events/settlement.ts";
import { openReader, type Read, readWith, viewMethods } from "./reader.ts";
import { packDecisions } from "./records/decisions.ts";
import { packSent } from "./records/sent.ts";
import { diskError } from "./thread/failure.ts";
import { prune } from "./thread/prune-steps.ts";
import { openQueue, type WriteQueue } from "./thread/queue.ts";
import { removalMethods } from "./thread/removal-methods.ts";

export { openSqliteReader, type StoreReader } from "./reader.ts";

export interface SqliteStoreOptions {
  /** State directory; made with mode 0700 when it is missing. */
  readonly directory: string;
  /** Epoch milliseconds; decides what has expired. */
  readonly now: () => number;
  /** Delay added to each flush, for tests and benchmarks of slow disks. */
  readonly slowFlushMs?: number;
  /** Set by a gateway that holds the lock. */
  readonly owner?: boolean;
  /**
   * Whether this process has no other connection to the database. Then what a killed process left of its log is
   * examined, which would release the locks of another connection.
   */
  readonly isAlone?: boolean;
  /** Whether a thread of its own writes, so that this one never waits for the disk; default: `owner`. */
  readonly writerThread?: boolean;
  /**
   * Go on where the state is lost, older than its last use, or another one: with the database that is there, or with a
   * new one where it cannot be used. The old one is renamed then. Reports what was accepted.
   */
  readonly acceptNewState?: (accepted: HostError, aside: string | undefined) => void;
}

/** Errors about a database that can be opened nevertheless, and about one that cannot. */
const usable: readonly ErrorCode[] = ["state_behind", "state_replaced"];
const unusable: readonly ErrorCode[] = ["state_lost", "state_foreign", "state_damaged"];

const durable = { durable: true } as const;

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, now, acceptNewState } = options;
  try {
    examineFile(directory);
    return await openStore(options, wasUsed(directory));
  } catch (error) {
    if (!(error instanceof HostError)) throw diskError(error, directory);
    const isUsable = usable.includes(error.code);
    if (acceptNewState === undefined || !(isUsable || unusable.includes(error.code))) throw error;
    const aside = isUsable ? undefined : putAside(directory, now());
    forgetIdentity(directory);
    const store = await openStore(options, false);
    acceptNewState(error, aside);
    return store;
  }
}

async function openStore(
  { directory, now, slowFlushMs = 0, owner = false, isAlone = false, writerThread = owner }: SqliteStoreOptions,
  used: boolean,
): Promise<Store> {
  const file = prepareFile(directory, "state.db");
  const queue = await openQueue({ directory, file, slowFlushMs, used, owner, isAlone }, { thread: writerThread });
  let db: ReturnType<typeof openReader>;
  try {
    db = openReader(file, directory);
  } catch (error) {
    await queue.close();
    throw error;
  }
  const read = readWith(db, { directory, now });
  const own = createOwnUnits();
  return {
    ...workMethods(queue, read, own),
    ...outboxMethods(queue, read, own, now),
    ...sessionMethods(queue, read),
    ...viewMethods(read),
    ...modelCallMethods(queue),
    ...keyValueMethods(queue, read, now),
    ...removalMethods(queue, read),
    ...writerChangeMethods(queue, read),
    copying: copyMethods(queue, read),
    prune: (limits) => prune(queue, limits),
    trouble() {
      const reason = queue.trouble();
      return reason && `${reason}. Free space on the disk of the state directory.`;
    },
    async close() {
      // The writer closes last: it is the one that folds the log into the database.
      if (db.isOpen) db.close();
      await queue.close();
    },
  };
}

/**
 * An event that was taken as it was accepted. Its body is read from the text that was written: what runs is what is
 * kept.
 */
function unitOfNew({ event, id, at }: NewEvent, sequence: number, body: string): Unit {
  const taken: StoredEvent = { ...event, id, sequence, acceptedAt: at, attempts: 1, body: JSON.parse(body) as Json };
  return { id, lane: event.lane, events: [taken], attempts: 1, stage: "turn", isFirstRun: true };
}

function workMethods(queue: WriteQueue, read: Read, own: OwnUnits) {
  return {
    begin: () => queue.write("begin", undefined, durable),
    fence: () => read((reads) => reads.fence()),
    async accept(event) {
      const packed = packEvent(event);
      const result = await queue.write("accept", packed, {
        durable: true,
        weight: packed[9].length,
        arrival: event.follows !== true,
      });
      if (result === null) return { eventId: event.id, duplicate: false };
      if (!("eventId" in result)) {
        const [sequence, row] = result;
        own.took(event.id, row);
        return { eventId: event.id, duplicate: false, unit: unitOfNew(event, sequence, packed[9]) };
      }
      return { ...result, duplicate: true };
    },
    first: (dedupeKey) => read((reads) => reads.first(dedupeKey)),
    passedOver: async (eventId, options) => {
      const rows = await read((reads) => reads.passedOver({ eventId, ...options }));
      return [...Map.groupBy(rows, ({ unit }) => unit).values()].map((passed) => passed.map(({ event }) => event));
    },
    waitingLanes: () => read((reads) => reads.waitingLanes()),
    claim: async (lane, { now, limit }) => unpackClaim(await queue.write("claim", [lane, now, limit]), lane),
    handBack(unitId, { due, uncount = false, decisions }) {
      own.forget(unitId);
      return queue.write("handBack", { unitId, due, uncount, decisions: packDecisions(decisions) });
    },
    setAttempts: (unitId, attempts) => queue.write("setAttempts", { unitId, attempts }, durable),
    async settle(settlement) {
      const { unitId, sent } = settlement;
      const known = { row: own.rowOf(unitId), allSent: own.hasSentAll(unitId, sent === undefined ? 0 : 1) };
      const settled = await queue.write("settle", packSettlement(settlement, known), durable);
      own.forget(unitId);
      return settled;
    },
    queueWaits: (waiting) => read((reads) => reads.queueWaits(waiting)),
    async takeQueued(unitId, { queue: waiting, now }) {
      // Nearly always nothing waits, and then the turn needs no trip to the writer.
      if (!(await read((reads) => reads.queueWaits(waiting)))) return [];
      return unpackTaken(await queue.write("takeQueued", { unitId, queue: waiting, now }));
    },
    requeue({ unitId, at, outcome, reason, decisions, sent }) {
      own.forget(unitId);
      const packed = sent === undefined ? null : packSent(sent.rowId, sent.receipt, sent.at);
      return queue.write(
        "requeue",
        { unitId, at, outcome, reason, decisions: packDecisions(decisions), sent: packed },
        durable,
      );
    },
    leftOutReported: (key, count) => queue.write("leftOutReported", { key, count }),
    setPreview: (unitId, preview) => queue.write("setPreview", { unitId, preview: JSON.stringify(preview) }),
    replay: (eventId, now) => queue.write("replay", { eventId, now }, durable),
  } satisfies Partial<Store>;
}

function outboxMethods(queue: WriteQueue, read: Read, own: OwnUnits, now: () => number) {
  return {
    async say(saying) {
      const { unitId, rows } = saying;
      const packed = packSaying(saying, own.rowOf(unitId));
      const placed = await queue.write("say", packed, durable);
      own.partsAdded(unitId, rows.length);
      return rows.map((row, offset): OutboxRow => {
        const [id, index] = placed[offset] ?? [0, 0];
        const marked = offset === packed[4];
        return {
          id,
          unitId,
          index,
          ...row,
          state: marked ? "sending" : "waiting",
          attempts: marked ? 1 : 0,
          doubts: 0,
        };
      });
    },
    unsent: (unitId) => read((reads) => reads.unsent(unitId)),
    sending: (rowId) => queue.write("sending", { rowId, at: now() }),
    notSent: (rowId) => queue.write("notSent", { rowId }),
    doubted: (rowId, { decisions }) => queue.write("doubted", { rowId, decisions: packDecisions(decisions) }),
    sent: (rowId, receipt, { at, next }) =>
      queue.write("sent", { sent: packSent(rowId, receipt, at), next: next ?? null }),
    unsendable: (rowId, options) => queue.write("unsendable", { rowId, ...options }),
    failedPart: (unitId) => read((reads) => reads.failedPart(unitId)),
    sentBy: (unitId) => read((reads) => reads.sentBy(unitId)),
    async findSent(where) {
      const found = await read((reads) => reads.findSent(where));
      if (found !== null || queue.isIdle()) return found;
      // The platform shows a message before its record is committed, and a user may react to it quickly.
      await queue.write("pass", undefined);
      return read((reads) => reads.findSent(where));
    },
    async sentMessages(where) {
      const found = await read((reads) => reads.sentMessages(where));
      if (found.length > 0 || queue.isIdle()) return found;
      await queue.write("pass", undefined);
      return read((reads) => reads.sentMessages(where));
    },
    addDecision: (unitId, decision) =>
      queue.write("addDecision", { unitId, entries: packDecisions([decision]) ?? "[]" }, durable),
  } satisfies Partial<Store>;
}

function writerChangeMethods(queue: WriteQueue, read: Read) {
  return {
    editWaiting: (keys, edit) => queue.write("editWaiting", { keys, edit }),
    redactEvents: (ids, body) => queue.write("redactEvents", { ids, body: JSON.stringify(body) }, durable),
    unitOf: (eventId) => read((reads) => reads.unitOf(eventId)),
  } satisfies WriterChanges & Pick<Store, "unitOf">;
}

function sessionMethods(queue: WriteQueue, read: Read) {
  return {
    session: (key) => read((reads) => reads.session(key)),
    sessions: (options) => read((reads) => reads.sessions(options)),
    updateSession: (key, { agentId, at, settings, lastRecipient, newGeneration = false }) =>
      queue.write("updateSession", {
        key,
        agentId,
        at,
        settings: settings ?? null,
        lastRecipient: lastRecipient ? JSON.stringify(lastRecipient) : null,
        newGeneration,
      }),
    transcript: (key, options) => read((reads) => reads.transcript(key, options)),
    conversation: (key, options) => read((reads) => reads.conversation(key, options)),
    summaries: (key, options) => read((reads) => reads.summaries(key, options)),
    addSummary: (key, summary) => queue.write("addSummary", { key, ...summary }, durable),
    moveChat: (move) => queue.write("moveChat", move, durable),
  } satisfies Partial<Store>;
}

function modelCallMethods(queue: WriteQueue) {
  return {
    reserveCall: (call, limits) => queue.write("reserveCall", { call, limits }),
    recordCall: (call) => queue.write("recordCall", call),
    releaseCall: (id) => queue.write("releaseCall", id),
  } satisfies Partial<Store>;
}

function copyMethods(queue: WriteQueue, read: Read): Copying {
  return {
    read: (kind, options) => read((reads) => reads.copyRows(kind, options)),
    counts: () => read((reads) => reads.copyCounts()),
    begin: (record) => queue.write("beginCopy", record, durable),
    write: (kind, rows, record) => queue.write("writeCopy", { kind, rows, record }, durable),
    finish: () => queue.write("finishCopy", undefined, durable),
  };
}

const parsed = (text: string | null): Json | null => (text === null ? null : (JSON.parse(text) as Json));

function keyValueMethods(queue: WriteQueue, read: Read, now: () => number) {
  return {
    get: (namespace, key) => read((reads) => parsed(reads.text(namespace, key))),
    set: (namespace, key, value, options = {}) =>
      queue.write(
        "set",
        { namespace, key, value: JSON.stringify(value), expiresAt: options.expiresAt ?? null },
        { durable: options.durable ?? false },
      ),
    delete: (namespace, key) => queue.write("delete", { namespace, key, now: now() }),
    list: (namespace, options) => read((reads) => reads.list(namespace, options)),
    async update(namespace, key, change, options = {}) {
      let expected = await read((reads) => reads.text(namespace, key));
      for (;;) {
        const next = change(parsed(expected));
        if (next === undefined) return parsed(expected);
        const text = next === null ? null : JSON.stringify(next);
        const result = await queue.write("swap", {
          namespace,
          key,
          expected,
          next: text,
          expiresAt: options.expiresAt,
          now: now(),
        });
        if (result.done) return next;
        expected = result.found;
      }
    },
  } satisfies Partial<Store>;
}
