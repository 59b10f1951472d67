/**
 * The store interface: what the runtime needs from a database. `sqlite/` is the embedded implementation; others must
 * pass `storeContract` of the testkit. Order must not depend on one process's memory or on a wall clock.
 *
 * Every method that writes resolves after its commit. `durable` writes are flushed to the disk first. Other writes
 * survive a killed process, but a power cut may undo the latest ones. They are designed so that this repeats work but
 * loses no event.
 */
import type { Accepted, Address, Decision, Json, Outcome, Part, RawEvent, Receipt } from "../contract/index.ts";
import type { Conversations } from "./conversations.ts";
import type { Copying } from "./copying.ts";
import type { Pruned, PruneLimits } from "./limits.ts";
import type { ModelCalls } from "./model-calls.ts";
import type { Nodes } from "./nodes.ts";
import type { AfterReceipt, OutboxRow } from "./outbox-row.ts";
import type { Queue } from "./queue-key.ts";
import type { Removals } from "./removals.ts";
import type { EventFilter, EventReport, SessionReport, StoreStats } from "./report.ts";
import type { LastRecipient, SessionMessage, SessionRecord } from "./session.ts";
import type { WriterChanges } from "./writer-changes.ts";

/** An event as stored in the inbox. */
export interface StoredEvent extends RawEvent {
  readonly id: string;
  /** Order of arrival in the whole store; increasing, with gaps. */
  readonly sequence: number;
  readonly acceptedAt: number;
  /** How many runs of the event have begun, including the current one. */
  readonly attempts: number;
  /** On the first event taken from a queue: how many events were left out since a turn last reported the count. */
  readonly leftOut?: number;
}

/** How a unit ends, with its session and agent. */
export interface Ending {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** The agent's reply, if it is stored for the program that asked. */
  readonly reply?: string;
  /** The turn did not end, so events taken from a queue wait again. */
  readonly unread?: true;
}

/** The messages of a preview and their chat. */
export interface PreviewLeft {
  readonly address: Address;
  /** Oldest first; never empty. */
  readonly messageIds: readonly string[];
}

/**
 * The events of one run: a single event, or those gathered under one key. `events[0]` leads and gives the unit its id.
 */
export interface Unit {
  readonly id: string;
  readonly lane: string;
  readonly events: readonly StoredEvent[];
  /** How many runs the unit's leader has begun, including the current one; 1 is the first. */
  readonly attempts: number;
  /** `delivery`: the turn is done and its reply is in the outbox; only sending is left. */
  readonly stage: "turn" | "delivery";
  /** Certain to be the first run of its only event, so that no earlier run left anything behind. Absent if unknown. */
  readonly isFirstRun?: true;
  /** An unfinished preview of an earlier attempt. */
  readonly preview?: PreviewLeft;
  /** For stage `delivery`: how the unit ends once everything is sent, as passed to `say`. */
  readonly ending?: Ending;
}

/** An event to be accepted. */
export interface NewEvent {
  readonly event: RawEvent;
  readonly id: string;
  readonly at: number;
  /** When the dedupe key expires, epoch milliseconds. */
  readonly dedupeUntil?: number;
  /** Digest of the request, to distinguish a repetition from a conflict. */
  readonly fingerprint?: string;
  /**
   * The caller is ready to run the event, which is due. If its lane is at rest, it is taken in the same commit, as by
   * `claim`.
   */
  readonly claim?: true;
  /**
   * The event results from another write at the same moment and shares its commit, so that both are stored or neither.
   */
  readonly follows?: true;
  /** Settles the event at once, because acceptance already shows that there is nothing to do. */
  readonly settled?: { readonly outcome: Outcome; readonly reason: string; readonly decisions?: readonly Decision[] };
}

/** The result of `accept`. */
export interface AcceptedEvent extends Accepted {
  /** The event's unit, if it was accepted with `claim` and its lane was at rest. */
  readonly unit?: Unit;
  /** Set on a duplicate: whether the first event had the same fingerprint. */
  readonly sameFingerprint?: boolean;
}

/** A lane with waiting events, for the scheduler at the start. */
export interface WaitingLane {
  readonly lane: string;
  /** Epoch milliseconds at which the head is due; 0 if it may run at once. */
  readonly due: number;
  /**
   * The head has not run yet and waits for more events with its key (`extend`). They may have been missed while no
   * process ran.
   */
  readonly gathers?: true;
  /** How many attempts to run the head have begun; absent if none, or if its turn is done. */
  readonly attempts?: number;
}

/** The end of a unit, shared by all its events. */
export interface Settlement extends Ending {
  readonly unitId: string;
  readonly at: number;
  readonly decisions: readonly Decision[];
  /** The last sent row, recorded in the same commit; recorded even if the unit has already ended. */
  readonly sent?: { readonly rowId: number; readonly receipt: Receipt; readonly at: number };
}

/** The operations that the runtime needs from a database. Rules beyond the types are in `storeContract`. */
export interface Store extends Removals, ModelCalls, Conversations, WriterChanges, AfterReceipt {
  /** Present if several gateways can share the store. */
  readonly nodes?: Nodes;
  /** Present if the state can be copied to another store and from it. */
  readonly copying?: Copying;

  /**
   * Takes over the state: fences out the previous owner, hands back running units and ends the waits of `handBack`.
   * Call it once, before `claim`.
   */
  begin(now: number): Promise<{ readonly fence: number; readonly resumed: number }>;
  /**
   * The current fence. If it differs from the result of `begin`, another process has taken over. Rejects with
   * `database_version` if a newer version of the program has changed the database, and this one may no longer use it.
   */
  fence(): Promise<number>;

  // inbox
  /** Durable. Stores an event. All events of one event-loop turn share one flush. */
  accept(event: NewEvent): Promise<AcceptedEvent>;
  /** The event first accepted under a dedupe key that has not expired. */
  first(dedupeKey: string): Promise<{ readonly eventId: string; readonly fingerprint?: string } | null>;
  /**
   * The messages that a lane passed over before one of its events: the last `limit` events that ended silent for
   * `reason`, not older than the event `after`. Oldest first, grouped by unit.
   */
  passedOver(
    eventId: string,
    options: { readonly reason: string; readonly limit: number; readonly after?: string },
  ): Promise<readonly (readonly StoredEvent[])[]>;
  /** Lanes with an event that may start a unit, now or later. */
  waitingLanes(): Promise<readonly WaitingLane[]>;
  /**
   * Takes the next unit of a lane if its head is due: counts the attempt and marks the unit's events as running.
   * `limit` bounds the gathered events of one unit. Otherwise resolves with `{ unit: null, due }`: when the head is
   * due, or `null` if nothing waits. `others`: more events of the lane wait, due or not. A head accepted more than 5 s
   * after `now` is due, because the clock was set back.
   */
  claim(
    lane: string,
    options: { readonly now: number; readonly limit: number },
  ): Promise<{ readonly unit: Unit; readonly others: boolean } | { readonly unit: null; readonly due: number | null }>;
  /**
   * Returns a unit to the inbox: its events wait again, in their previous order, not before `due`. The attempt counts
   * unless `uncount` is set.
   */
  handBack(
    unitId: string,
    options: { readonly due: number; readonly uncount?: boolean; readonly decisions?: readonly Decision[] },
  ): Promise<void>;
  /**
   * Durable. Sets how many runs of a running unit's leader have begun, and changes the number of its other events by as
   * much: a run that only waits does not count if the process ends meanwhile. No effect on a unit that is not running.
   */
  setAttempts(unitId: string, attempts: number): Promise<void>;
  /** Whether events with a text wait in a queue. */
  queueWaits(queue: Queue): Promise<boolean>;
  /**
   * Adds the waiting events of a queue to a running unit that another event leads: the newest events with a text, as
   * for a unit of the queue itself. Others end `silent(left_out)`. The added events end with the unit. They wait again
   * if the unit is handed back before `say`, or ends `unread`. A unit in its last attempt takes none, and an event that
   * three attempts have begun with is not taken, because an event that crashes the process must not do so with every
   * message.
   */
  takeQueued(unitId: string, options: { readonly queue: Queue; readonly now: number }): Promise<readonly StoredEvent[]>;
  /**
   * Durable. Used if a unit of a queue ends without having read its events: events with a text wait again, uncounted;
   * others, such as ticks, end with this settlement.
   */
  requeue(settlement: Settlement): Promise<void>;
  /** Records that a finished turn has reported this many events of a queue as left out. */
  leftOutReported(key: string, count: number): Promise<void>;
  /** Durable. Ends a unit. A second settlement of the same unit is ignored and resolves with `false`. */
  settle(settlement: Settlement): Promise<boolean>;
  /** Stores the messages of a preview in progress, so that a later attempt can reuse or remove them. */
  setPreview(unitId: string, preview: PreviewLeft): Promise<void>;
  /**
   * Makes a settled event wait again, with its attempts reset to zero. Resolves with `false` if there is no such event.
   */
  replay(eventId: string, now: number): Promise<boolean>;

  // outbox
  /**
   * Durable. Ends the turn of a unit: stores its reply in the outbox, in order, and its transcript. The first row is
   * stored as `sending` at `at`, because it is sent next, unless `first` is `"waiting"` because of the platform's
   * limits.
   * `tookQueued`: the unit took events from a queue. An `unread` ending returns them in the same commit.
   */
  say(input: {
    readonly unitId: string;
    readonly at: number;
    readonly rows: readonly { readonly address: Address; readonly operation: "send" | "remove"; readonly part: Part }[];
    readonly first?: "waiting";
    readonly tookQueued?: true;
    /** How the unit ends once everything is sent. It is stored, because the process may end before that. */
    readonly ending: Ending;
    readonly transcript?: { readonly sessionKey: string; readonly messages: readonly SessionMessage[] };
    readonly decisions?: readonly Decision[];
  }): Promise<readonly OutboxRow[]>;
  /** Rows of a unit that are neither sent nor failed, in order. */
  unsent(unitId: string): Promise<readonly OutboxRow[]>;
  /** Marks a row before an attempt to send it. The time of the first mark remains until `notSent`. */
  sending(rowId: number): Promise<void>;
  /**
   * The attempt certainly had no effect, so the row waits again. A later start can send it without risk of duplication.
   */
  notSent(rowId: number): Promise<void>;
  /**
   * It is unknown whether an attempt had an effect. Counts this and records `decisions` in one commit. The row waits
   * again, and it is certain that the next attempt has not begun until the row is marked as `sending`.
   */
  doubted(rowId: number, options: { readonly decisions: readonly Decision[] }): Promise<void>;
  /** Records the platform's message id, and marks `next` as sending in the same commit. */
  sent(rowId: number, receipt: Receipt, options: { readonly at: number; readonly next?: number }): Promise<void>;
  /** `forget`: the content of the part is removed, too. */
  unsendable(
    rowId: number,
    options: { readonly at: number; readonly reason: string; readonly forget?: boolean },
  ): Promise<void>;
  /** The reason of a unit's first part that could not be sent; `null` if there is none. */
  failedPart(unitId: string): Promise<string | null>;
  /**
   * The messages of a unit that the platform accepted, in order and including each message of an album, as long as the
   * unit is stored.
   */
  sentBy(unitId: string): Promise<readonly { readonly chat: string; readonly messageId: string }[]>;
  /** The unit and session of a message that was sent in the last 30 days. */
  findSent(where: {
    readonly channel: string;
    readonly account: string;
    readonly chat: string;
    readonly messageId: string;
  }): Promise<{ readonly unitId: string; readonly thread?: string } | null>;

  // sessions
  session(key: string): Promise<SessionRecord | null>;
  sessions(options: { readonly limit: number }): Promise<readonly SessionRecord[]>;
  /**
   * Creates or changes a session. `settings` are merged key by key; `null` removes a key. `lastRecipient` is replaced
   * if given.
   */
  updateSession(
    key: string,
    change: {
      readonly agentId: string;
      readonly at: number;
      readonly settings?: { readonly [key: string]: Json };
      readonly lastRecipient?: LastRecipient;
      readonly newGeneration?: boolean;
    },
  ): Promise<void>;
  /**
   * Durable. Moves a chat to its new platform id. Events waiting in its lanes (`<channel>:<account>:<from>`, alone or
   * followed by `:` or a tab) wait in those of `to`, in the same order, and `passedOver` finds the old messages there.
   * Waiting replies are addressed to `to` and replace nothing there. Sessions move with their transcripts and settings,
   * before what the target already contains. Message ids differ in the new chat, so records of `findSent` are not
   * moved. Idempotent. Resolves with the number of moved events.
   */
  moveChat(move: {
    readonly channel: string;
    readonly account: string;
    readonly from: string;
    readonly to: string;
    readonly sessions: readonly { readonly from: string; readonly to: string }[];
    readonly at: number;
  }): Promise<{ readonly moved: number }>;

  // operator's view
  event(id: string): Promise<EventReport | null>;
  events(filter: EventFilter): Promise<readonly EventReport[]>;
  /** The events of the unit that an event belongs to, in order; the event alone if none has taken it. */
  unitOf(eventId: string): Promise<readonly StoredEvent[]>;
  /** The body of an event, for replay and `show`. */
  body(eventId: string): Promise<Json | null>;
  /**
   * All sessions, including those with only a transcript, most recently used first. It scans all of them, so use it for
   * operators only.
   */
  sessionReports(filter: { readonly limit: number }): Promise<readonly SessionReport[]>;
  stats(): Promise<StoreStats>;

  // key-value, with time to live
  get(namespace: string, key: string): Promise<Json | null>;
  /**
   * Stores a value. `expiresAt` is in epoch milliseconds. With `durable`, it is flushed before the promise resolves.
   */
  set(
    namespace: string,
    key: string,
    value: Json,
    options?: { readonly expiresAt?: number; readonly durable?: boolean },
  ): Promise<void>;
  delete(namespace: string, key: string): Promise<boolean>;
  list(
    namespace: string,
    options?: { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly { readonly key: string; readonly value: Json; readonly expiresAt?: number }[]>;
  /**
   * Updates one key atomically. `change` receives the value (or `null`) and returns the next one (`null` deletes,
   * `undefined` leaves it). It may run again if another writer was faster, so it must be pure.
   */
  update(
    namespace: string,
    key: string,
    change: (value: Json | null) => Json | null | undefined,
    options?: { readonly expiresAt?: number },
  ): Promise<Json | null>;

  /**
   * Removes expired data and data past the limits of age and count, and returns its space to the disk, in small steps.
   */
  prune(limits: PruneLimits): Promise<Pruned>;
  /**
   * Why nothing could be stored at the last write, less than half a minute ago, and the remedy, as sentences;
   * `undefined` otherwise.
   */
  trouble(): string | undefined;
  /** Flushes remaining writes and closes the store. */
  close(): Promise<void>;
}
