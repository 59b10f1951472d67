/** Accepts events. All that wait while transactions run are stored together by the next one. */
import type { AcceptedEvent, Json, NewEvent, StoredEvent, Unit } from "service-gateway/sdk/store";
import { createAcceptanceQueue } from "./acceptance-queue.ts";
import { packDecisions } from "./decisions.ts";
import { isBadValue } from "./failure.ts";
import type { Lease } from "./nodes/lease.ts";
import type { Database, Values } from "./pool.ts";
import type { RunningUnits } from "./running-units.ts";
import { outcomeStates } from "./schema/tables.ts";

const dedupeMs = 7 * 24 * 3_600_000;
/** While one transaction waits for the disk, the next one is executed. */
const maxTransactions = 2;

interface Waiting {
  readonly event: NewEvent;
  readonly body: string;
  resolve(accepted: AcceptedEvent): void;
  reject(error: unknown): void;
}

/** What the database says about an event that is not simply waiting now. */
interface Outcome {
  readonly ord: number;
  readonly first_id: string | null;
  readonly same_fingerprint: boolean | null;
  readonly sequence: number | null;
  readonly unit: number | null;
}

/** The value of each parameter of the function `accept` for one event; the database receives a list of each. */
const columns: readonly ((waiting: Waiting) => unknown)[] = [
  ({ event }) => event.id,
  ({ event }) => event.at,
  ({ event }) => event.event.source,
  ({ event }) => event.event.kind,
  ({ event }) => event.event.account ?? null,
  ({ event }) => event.event.lane,
  ({ event }) => event.event.authority,
  ({ event }) => event.event.gather?.key ?? null,
  // An ungathered event is due immediately, so that one comparison covers all cases.
  ({ event }) => (event.event.gather === undefined ? 0 : event.event.gather.due),
  ({ event }) => event.event.gather?.extend === true,
  ({ event }) => event.event.dedupeKey ?? null,
  ({ event }) => event.dedupeUntil ?? event.at + dedupeMs,
  ({ event }) => event.fingerprint ?? null,
  ({ event }) => textLength(event.event.body),
  ({ body }) => body,
  ({ event }) => event.claim === true,
  ({ event }) => event.settled?.outcome ?? null,
  ({ event }) => (event.settled === undefined ? null : outcomeStates[event.settled.outcome]),
  ({ event }) => event.settled?.reason ?? null,
  ({ event }) => packDecisions(event.settled?.decisions)[0],
  ({ event }) => JSON.stringify(packDecisions(event.settled?.decisions)[1] ?? []),
];

/** Length of the text in a body; 0 if it has none. */
export function textLength(body: Json): number {
  const text = typeof body === "object" && body !== null && "text" in body ? body.text : undefined;
  return typeof text === "string" ? text.length : 0;
}

/** An event that was taken as it was accepted. Its body is read from the text that was stored. */
function unitOf({ event: { event, id, at }, body }: Waiting, sequence: number): Unit {
  const taken: StoredEvent = { ...event, id, sequence, acceptedAt: at, attempts: 1, body: JSON.parse(body) as Json };
  return { id, lane: event.lane, events: [taken], attempts: 1, stage: "turn", isFirstRun: true };
}

export interface Acceptance {
  accept(event: NewEvent): Promise<AcceptedEvent>;
}

export function createAcceptance(database: Database, lease: Lease, units: RunningUnits): Acceptance {
  const queue = createAcceptanceQueue<Waiting>(({ event, body }) => ({
    lane: event.event.lane,
    characters: body.length,
    follows: event.follows === true,
  }));
  let running = 0;
  let planned = false;

  async function store(batch: readonly Waiting[]): Promise<void> {
    const lists = columns.map((column) => batch.map(column));
    const values = (again: boolean): Values => [...lease.values(), again, ...lists];
    const isHeld = lease.watched();
    const stored = await database.call<Outcome>("accept", values);
    // What was taken under a lease that is lost runs on another node.
    const rows = isHeld() ? stored : stored.map((row) => (row.unit === null ? row : { ...row, unit: null }));
    const outcomes = new Map(rows.map((row) => [row.ord, row]));
    for (const row of rows) if (row.unit !== null) units.took(batch[row.ord - 1]?.event.id ?? "");
    for (const [index, waiting] of batch.entries()) settle(waiting, outcomes.get(index + 1));
  }

  /** One event is at fault, so each is stored by itself. */
  async function storeEach(batch: readonly Waiting[]): Promise<void> {
    for (const waiting of batch) await store([waiting]).catch(waiting.reject);
  }

  async function run(batch: readonly Waiting[]): Promise<void> {
    try {
      await store(batch);
    } catch (error) {
      if (batch.length > 1 && isBadValue(error)) await storeEach(batch);
      else for (const { reject } of batch) reject(error);
    }
  }

  function pump(): void {
    planned = false;
    while (running < maxTransactions) {
      const batch = queue.take();
      if (batch.length === 0) return;
      running += 1;
      void run(batch).then(() => {
        running -= 1;
        queue.done(batch);
        pump();
      });
    }
  }

  return {
    accept: (event) =>
      new Promise((resolve, reject) => {
        queue.add({ event, body: JSON.stringify(event.event.body), resolve, reject });
        if (planned || running === maxTransactions) return;
        planned = true;
        // Requests that arrive in the same turn of the event loop share the transaction.
        setImmediate(pump);
      }),
  };
}

function settle(waiting: Waiting, outcome: Outcome | undefined): void {
  const { id } = waiting.event;
  if (outcome === undefined) waiting.resolve({ eventId: id, duplicate: false });
  else if (outcome.first_id !== null) {
    waiting.resolve({ eventId: outcome.first_id, duplicate: true, sameFingerprint: outcome.same_fingerprint === true });
  } else if (outcome.sequence === null) waiting.reject(new Error(`The event ${id} is stored already.`));
  else if (outcome.unit === null) waiting.resolve({ eventId: id, duplicate: false });
  else waiting.resolve({ eventId: id, duplicate: false, unit: unitOf(waiting, outcome.sequence) });
}
