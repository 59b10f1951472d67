/**
 * The store port: what the runtime needs of a database. The embedded one is `sqlite/`; another passes
 * `storeContract` of the testkit. Nothing here may rely on one process's memory or on a wall clock for order.
 *
 * Every method that writes resolves after its commit. `durable` writes are flushed to the disk before they resolve; the others survive the
 * death of the process, but a power cut may undo the last of them, and they are written so that this costs a repetition of work, no event.
 */
import type { Accepted, Address, Decision, Json, Outcome, Part, RawEvent, Receipt } from "../contract/index.ts";
import type { Pruned, PruneLimits } from "./limits.ts";
import type { Queue } from "./queue-key.ts";
import type { Removals } from "./removals.ts";
import type { EventFilter, EventReport, SessionReport, StoreStats, UsageReport } from "./report.ts";
import type { SessionMessage, SessionRecord } from "./session.ts";

/** An event as the inbox keeps it. */
export interface StoredEvent extends RawEvent {
  readonly id: string;
  /** Arrival order in the whole store; grows, has gaps. */
  readonly sequence: number;
  readonly acceptedAt: number;
  /** How often a run of it began, this one included. */
  readonly attempts: number;
  /** Of the first event that is taken from a queue: how many events were left out since a turn last reported it. */
  readonly leftOut?: number;
}

/** How a unit ends, and whose conversation it was. */
export interface Ending {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** What the agent said, where it is kept for the program that asked. */
  readonly reply?: string;
  /** The turn did not end: what it took from a queue waits again. */
  readonly unread?: true;
}

/** Messages of a preview, and where they are. */
export interface PreviewLeft {
  readonly address: Address;
  /** The oldest first; never empty. */
  readonly messageIds: readonly string[];
}

/** What one run handles: one event, or those gathered under one key. `events[0]` leads and gives the unit its id. */
export interface Unit {
  readonly id: string;
  readonly lane: string;
  readonly events: readonly StoredEvent[];
  /** How often the unit's leader began a run, this one included; 1 is the first. */
  readonly attempts: number;
  /** `delivery`: its turn is done and what it said is in the outbox; only sending is left. */
  readonly stage: "turn" | "delivery";
  /** An unfinished preview that an earlier attempt left. */
  readonly preview?: PreviewLeft;
  /** Stage `delivery`: how the unit ends once everything is sent, as given to `say`. */
  readonly ending?: Ending;
}

export interface NewEvent {
  readonly event: RawEvent;
  readonly id: string;
  readonly at: number;
  /** Dedupe keys are forgotten at this time, epoch milliseconds. */
  readonly dedupeUntil?: number;
  /** Digest of what was asked, to tell a repetition from a clash. */
  readonly fingerprint?: string;
  /** The caller is ready to run the event, which is due: where its lane is at rest it is taken in the same commit, as by `claim`. */
  readonly claim?: true;
  /** It follows from what is written in the same moment, and shares its commit: both are kept, or neither. */
  readonly follows?: true;
  /** Settles the event at once: it is known at acceptance that there is nothing to do. */
  readonly settled?: { readonly outcome: Outcome; readonly reason: string; readonly decisions?: readonly Decision[] };
}

export interface AcceptedEvent extends Accepted {
  /** The event taken, where it was accepted with `claim` and its lane was at rest. */
  readonly unit?: Unit;
  /** Set on a duplicate: whether the first one had the same fingerprint. */
  readonly sameFingerprint?: boolean;
}

/** A lane that has work, for the scheduler at start. */
export interface WaitingLane {
  readonly lane: string;
  /** Epoch milliseconds of the head's `due`, 0 when it may run at once. */
  readonly due: number;
  /** The head has not run yet and waits for more of its key (`extend`), which may not have come while no process ran. */
  readonly gathers?: true;
}

export type OutboxState = "waiting" | "sending" | "sent" | "failed";

export interface OutboxRow {
  readonly id: number;
  readonly unitId: string;
  readonly index: number;
  readonly address: Address;
  /** `send` a part, or `remove` the message that `part.replaces` names. */
  readonly operation: "send" | "remove";
  readonly part: Part;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly messageId?: string;
  /** Attempts of unknown fate, each noted in the chain of decisions: the recipient may see the message this many times more than once. */
  readonly doubts: number;
}

/** The end of a unit: all its events share it. */
export interface Settlement extends Ending {
  readonly unitId: string;
  readonly at: number;
  readonly decisions: readonly Decision[];
  /** The last row that was sent, recorded in the same commit; also when the unit has its end already. */
  readonly sent?: { readonly rowId: number; readonly receipt: Receipt; readonly at: number };
}

/** What the runtime needs of a database; the rules that go beyond the types are in `storeContract`. */
export interface Store extends Removals {
  /**
   * Takes the state over: fences out the previous owner, hands back what was running, ends waits of `handBack`. Call once, before
   * `claim`.
   */
  begin(now: number): Promise<{ readonly fence: number; readonly resumed: number }>;
  /** The current fence: if it differs from the one that `begin` resolved with, another process has taken over. */
  fence(): Promise<number>;

  // inbox
  /** Durable. All events of one turn of the event loop share one flush. */
  accept(event: NewEvent): Promise<AcceptedEvent>;
  /** What was accepted first under a dedupe key that still counts. */
  first(dedupeKey: string): Promise<{ readonly eventId: string; readonly fingerprint?: string } | null>;
  /**
   * What a lane passed over before an event of it: the last `limit` events that ended silent for `reason`, none older than the event
   * `after`; oldest first, those of one unit together.
   */
  passedOver(
    eventId: string,
    options: { readonly reason: string; readonly limit: number; readonly after?: string },
  ): Promise<readonly (readonly StoredEvent[])[]>;
  /** Lanes with an event that may start a unit, now or later. */
  waitingLanes(): Promise<readonly WaitingLane[]>;
  /**
   * Takes the next unit of a lane, if its head is due: counts the attempt, marks the unit's events running. `limit` bounds the gathered
   * events of one unit. Resolves `{ unit: null, due }` with the time at which the head is due, or `due: null` when nothing waits.
   * `others`: more events of the lane wait, due or not. A head that was accepted more than 5 s after `now` is due: the clock was set
   * back.
   */
  claim(
    lane: string,
    options: { readonly now: number; readonly limit: number },
  ): Promise<{ readonly unit: Unit; readonly others: boolean } | { readonly unit: null; readonly due: number | null }>;
  /** Gives a unit back: its events wait again, in their old place, not before `due`. The attempt stays counted unless `uncount`. */
  handBack(
    unitId: string,
    options: { readonly due: number; readonly uncount?: boolean; readonly decisions?: readonly Decision[] },
  ): Promise<void>;
  /** Whether events with a text wait in a queue. */
  queueWaits(queue: Queue): Promise<boolean>;
  /**
   * Takes what waits in a queue into a running unit that another event leads: the newest events with a text, as for a unit of the queue
   * itself; the others end `silent(left_out)`. The taken ones end with the unit. They wait again where it is handed back before `say`, or
   * ends `unread`. A unit in its last attempt takes none, and none is taken that three attempts have begun with: what ends the
   * process must not do so with every message.
   */
  takeQueued(unitId: string, options: { readonly queue: Queue; readonly now: number }): Promise<readonly StoredEvent[]>;
  /** Durable. The turn of a unit of a queue read nothing: events with a text wait again, uncounted; others, such as ticks, end so. */
  requeue(settlement: Settlement): Promise<void>;
  /** A turn that has ended reported so many events of a queue as left out. */
  leftOutReported(key: string, count: number): Promise<void>;
  /** Durable. The one terminal state; a second settlement of the same unit is ignored and resolves `false`. */
  settle(settlement: Settlement): Promise<boolean>;
  /** Remembers the messages of a preview in progress, so that a later attempt can take them up, or remove them. */
  setPreview(unitId: string, preview: PreviewLeft): Promise<void>;
  /** Puts a settled event back to waiting, with its attempts at zero. Resolves `false` when there is no such settled event. */
  replay(eventId: string, now: number): Promise<boolean>;

  // outbox
  /**
   * Durable. Ends the turn of a unit: what it says is in the outbox, in order; its transcript is written with it.
   * The first row is stored as `sending`, because it is sent next, but for `first: "waiting"`: the platform's limits do not let it go yet.
   * `tookQueued`: the unit took events from a queue. An `unread` ending gives them back, in the same commit.
   */
  say(input: {
    readonly unitId: string;
    readonly at: number;
    readonly rows: readonly { readonly address: Address; readonly operation: "send" | "remove"; readonly part: Part }[];
    readonly first?: "waiting";
    readonly tookQueued?: true;
    /** How the unit ends once everything is sent; kept, because the process may die before that. */
    readonly ending: Ending;
    readonly transcript?: { readonly sessionKey: string; readonly messages: readonly SessionMessage[] };
    readonly decisions?: readonly Decision[];
  }): Promise<readonly OutboxRow[]>;
  /** Rows of a unit that are neither sent nor failed, in order. */
  unsent(unitId: string): Promise<readonly OutboxRow[]>;
  /** Marks a row before a try. */
  sending(rowId: number): Promise<void>;
  /** A try surely did not happen: the row waits again, so that a later start sends it without doubt. */
  notSent(rowId: number): Promise<void>;
  /**
   * It is unknown whether an attempt happened: that is counted, and noted by `decisions`, in one commit. The row waits again: until it is
   * marked as `sending`, the next try has surely not begun.
   */
  doubted(rowId: number, options: { readonly decisions: readonly Decision[] }): Promise<void>;
  /** Records the platform's message id, and marks `next` as sending in the same commit. */
  sent(rowId: number, receipt: Receipt, options: { readonly at: number; readonly next?: number }): Promise<void>;
  unsendable(rowId: number, options: { readonly at: number; readonly reason: string }): Promise<void>;
  /** Reason of a unit's first part that could not be sent. */
  failedPart(unitId: string): Promise<string | null>;
  /** The messages of a unit that the platform took, in order, each of an album too, for as long as the unit is kept. */
  sentBy(unitId: string): Promise<readonly { readonly chat: string; readonly messageId: string }[]>;
  /** Unit and session of a message that was sent in the last 30 days. */
  findSent(where: {
    readonly channel: string;
    readonly account: string;
    readonly chat: string;
    readonly messageId: string;
  }): Promise<{ readonly unitId: string; readonly thread?: string } | null>;

  // sessions
  session(key: string): Promise<SessionRecord | null>;
  sessions(options: { readonly limit: number }): Promise<readonly SessionRecord[]>;
  /** Creates or changes; `settings` are merged key by key, a `null` removes one; `lastRecipient` is replaced when given. */
  updateSession(
    key: string,
    change: {
      readonly agentId: string;
      readonly at: number;
      readonly settings?: { readonly [key: string]: Json };
      readonly lastRecipient?: Address;
      readonly newGeneration?: boolean;
    },
  ): Promise<void>;
  /** Messages of the current generation, oldest first; the last `userTurns` user turns when given. */
  transcript(key: string, options?: { readonly userTurns?: number; readonly generation?: number }): Promise<readonly SessionMessage[]>;

  /**
   * Durable. The platform leads a chat under another id from now on. What waits in its lanes (`<channel>:<account>:<from>`, alone or going
   * on with `:` or a tab) waits in those of `to`, in its old order, and what they passed over is there for `passedOver`; answers that
   * wait are addressed to `to` and replace nothing there; each session goes over with its
   * transcripts and settings, before what the other holds by then. Message ids are new there, so what `findSent` knows stays.
   * Done twice, it does nothing more. Resolves with the number of events that moved.
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
  /** Body of an event, for replay and `show`. */
  body(eventId: string): Promise<Json | null>;
  /** The last used first; also sessions of which there is only a transcript. It walks through all of them: for people who look. */
  sessionReports(filter: { readonly limit: number }): Promise<readonly SessionReport[]>;
  stats(): Promise<StoreStats>;
  /** By agent and model, the most tokens first; of decisions since then that are kept. */
  usage(filter: { readonly since: number }): Promise<readonly UsageReport[]>;

  // key-value, with time to live
  get(namespace: string, key: string): Promise<Json | null>;
  /** `expiresAt`: epoch milliseconds. `durable` flushes before it resolves. */
  set(namespace: string, key: string, value: Json, options?: { readonly expiresAt?: number; readonly durable?: boolean }): Promise<void>;
  delete(namespace: string, key: string): Promise<boolean>;
  list(
    namespace: string,
    options?: { readonly prefix?: string; readonly limit?: number },
  ): Promise<readonly { readonly key: string; readonly value: Json; readonly expiresAt?: number }[]>;
  /**
   * One atomic step on one key: `change` sees the value (or `null`) and returns the next (`null` deletes, `undefined` leaves it).
   * It may run again when another writer was faster, so it must be pure.
   */
  update(
    namespace: string,
    key: string,
    change: (value: Json | null) => Json | null | undefined,
    options?: { readonly expiresAt?: number },
  ): Promise<Json | null>;

  /** Removes what has expired and what is past the limits of age and count, and gives its room back to the disk, in small steps. */
  prune(limits: PruneLimits): Promise<Pruned>;
  /** Why nothing can be stored: no room was found on the disk, less than half a minute ago and the last time that something was tried. */
  trouble(): string | undefined;
  /** Flushes what is left and closes. */
  close(): Promise<void>;
}
