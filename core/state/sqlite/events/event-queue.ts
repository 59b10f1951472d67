/**
 * Queues: gather keys with a bounded number of waiting events, of which a unit takes the newest. Events left out end
 * `silent(left_out)`. They are counted until a turn has reported the count.
 */
import { isQueueKey, type Queue } from "../../queue-key.ts";
import { unitState } from "../database/schema.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";

/** Maximum number of waiting events in one queue. */
const maxWaiting = 1_000;
/** A full queue is reduced to this size, so that not every acceptance must look for the oldest event. */
const roomMade = 900;
const keepMs = 7 * 24 * 3_600_000;
/** Limits for one unit: the number of events with a text, and the total length of the texts. */
const maxTaken = 50;
const maxCharacters = 20_000;

interface Candidate {
  readonly sequence: number;
  readonly id: string;
  readonly unit: number | null;
  readonly accepted_at: number;
  readonly characters: number;
}

/** Waiting events of a queue, except those whose turn is done, which belong to their unit. */
const waiting = `state = 2 AND lane = ? AND gather_key = ?
  AND NOT EXISTS (SELECT 1 FROM units u WHERE u.id = inbox.unit AND u.stage = 'delivery')`;
export const hasText = "coalesce(json_extract(body, '$.text'), '') <> ''";

const countName = (key: string) => `left_out:${key}`;

/** Removes a unit without remaining events, along with its decisions and parts. */
export function removeUnitWithoutEvents(context: WriteContext, unit: number): void {
  if (context.one("SELECT 1 FROM inbox WHERE unit = ? LIMIT 1", unit)) return;
  context.run("DELETE FROM decisions WHERE unit = ?", unit);
  context.run("DELETE FROM outbox WHERE unit = ?", unit);
  context.run("DELETE FROM units WHERE id = ?", unit);
}

/** Ends the waiting events for which `where` is true. */
function leaveOut(
  context: WriteContext,
  { lane, key }: Queue,
  { where, value, at }: { readonly where: string; readonly value: string | number; readonly at: number },
): number {
  const those = `${waiting} AND ${where}`;
  const first = context.one<{ id: string }>(
    `SELECT id FROM inbox WHERE ${those} ORDER BY sequence LIMIT 1`,
    lane,
    key,
    value,
  );
  if (first === undefined) return 0;
  const former = context.all<{ unit: number }>(
    `SELECT DISTINCT unit FROM inbox WHERE ${those} AND unit IS NOT NULL`,
    lane,
    key,
    value,
  );
  const unit = context.insert(
    "INSERT INTO units (event_id, lane, state, outcome, reason, settled_at) VALUES (?, ?, ?, 'silent', 'left_out', ?)",
    first.id,
    lane,
    unitState.settled,
    at,
  );
  const left = context.run(`UPDATE inbox SET state = 5, unit = ? WHERE ${those}`, unit, lane, key, value);
  for (const row of former) removeUnitWithoutEvents(context, row.unit);
  const decision = {
    at,
    station: "accept",
    plugin: "core",
    verdict: "silent",
    code: "left_out",
    detail: `${left} of the oldest waiting events were left out`,
    hint:
      "More events waited than one turn takes. Send fewer, or let heartbeats run more often " +
      "(agents.defaults.heartbeat.every).",
  } as const;
  appendDecisions(context, unit, packDecisions([decision]));
  context.count("waiting", -left);
  context.count("silent", left);
  context.count("kept", left);
  context.run(
    "INSERT INTO numbers (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
    countName(key),
    left,
  );
  return left;
}

/** Events that a unit may take, newest first. */
function candidates(
  context: WriteContext,
  { lane, key }: Queue,
  { withoutDue, also }: { readonly withoutDue: 0 | 1; readonly also: string },
): readonly Candidate[] {
  return context.all<Candidate>(
    `SELECT sequence, id, unit, accepted_at, length(coalesce(json_extract(body, '$.text'), '')) AS characters FROM inbox
     WHERE ${waiting} AND (due IS NULL) = ${withoutDue} AND ${also} ORDER BY sequence DESC LIMIT ?`,
    lane,
    key,
    // More than the limit, because events without a text, such as ticks, do not count towards it.
    maxTaken * 2,
  );
}

/** Returns the queue's events for the next unit, oldest first. All others for which `also` is true are left out. */
export function takeNewest(
  context: WriteContext,
  queue: Queue,
  { now, also = "TRUE" }: { readonly now: number; readonly also?: string },
): readonly Candidate[] {
  const taken: Candidate[] = [];
  let texts = 0;
  let characters = 0;
  // An event that requests a turn is always included.
  const asking = candidates(context, queue, { withoutDue: 0, also });
  const others = candidates(context, queue, { withoutDue: 1, also }).filter(
    (event) => event.accepted_at > now - keepMs,
  );
  for (const side of [asking, others]) {
    for (const event of side) {
      if (event.characters > 0) {
        if (texts > 0 && (texts >= maxTaken || characters + event.characters > maxCharacters)) break;
        texts += 1;
        characters += event.characters;
      }
      taken.push(event);
    }
  }
  const sequences = JSON.stringify(taken.map(({ sequence }) => sequence));
  leaveOut(context, queue, {
    where: `${also} AND sequence NOT IN (SELECT value FROM json_each(?))`,
    value: sequences,
    at: now,
  });
  return taken.sort((a, b) => a.sequence - b.sequence);
}

/** How many events of a queue were left out since a turn last reported the count. */
export function leftOutOf(context: WriteContext, key: string): number {
  return context.one<{ value: number }>("SELECT value FROM numbers WHERE name = ?", countName(key))?.value ?? 0;
}

export interface QueueBounds {
  /** Call it after an event was added. */
  added(queue: Queue, at: number): void;
}

/**
 * Keeps its own counts, because acceptance is the hot path. A count is never too low as long as only this process takes
 * events out.
 */
export function createQueueBounds(context: WriteContext): QueueBounds {
  const counts = new Map<string, number>();
  const exact = ({ lane, key }: Queue) =>
    context.one<{ count: number }>(
      "SELECT count(*) AS count FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ?",
      lane,
      key,
    )?.count ?? 0;
  return {
    added(queue, at) {
      const known = counts.get(queue.key);
      let count = known === undefined ? exact(queue) : known + 1;
      if (count > maxWaiting) {
        count = exact(queue);
        if (count > maxWaiting) {
          const oldest = context.one<{ sequence: number }>(
            "SELECT sequence FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ? ORDER BY sequence " +
              "DESC LIMIT 1 OFFSET ?",
            queue.lane,
            queue.key,
            roomMade,
          );
          count -= leaveOut(context, queue, { where: "sequence <= ?", value: oldest?.sequence ?? 0, at });
        }
      }
      counts.set(queue.key, count);
    },
  };
}

/** Leaves out events that have waited for more than seven days. */
export function leaveOutOld(context: WriteContext, now: number): number {
  const queues = context
    .all<Queue>(
      `SELECT DISTINCT lane, gather_key AS key FROM inbox
       WHERE state = 2 AND gather_key IS NOT NULL AND due IS NULL AND accepted_at <= ?`,
      now - keepMs,
    )
    .filter(({ key }) => isQueueKey(key));
  let left = 0;
  for (const queue of queues)
    left += leaveOut(context, queue, { where: "due IS NULL AND accepted_at <= ?", value: now - keepMs, at: now });
  return left;
}

export function eventQueueReads(sql: Statements) {
  return {
    queueWaits: ({ lane, key }: Queue) =>
      sql.one(`SELECT 1 FROM inbox WHERE ${waiting} AND ${hasText} LIMIT 1`, lane, key) !== undefined,
  };
}

export function eventQueueWrites(context: WriteContext) {
  return {
    /** A finished turn has reported this count. */
    leftOutReported({ key, count }: { readonly key: string; readonly count: number }): void {
      context.run("UPDATE numbers SET value = value - ? WHERE name = ?", count, countName(key));
      context.run("DELETE FROM numbers WHERE name = ? AND value <= 0", countName(key));
    },
  };
}
