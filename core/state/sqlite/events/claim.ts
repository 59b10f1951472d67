/** What a run takes out of a lane: its next unit, with every event that belongs to it. */
import { isQueueKey } from "../../queue-key.ts";
import type { Unit } from "../../store.ts";
import { unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import type { ClaimResult } from "./claim-result.ts";
import { leftOutOf, takeNewest } from "./event-queue.ts";
import { dueOf, dueSince, eventColumns, type Head, headOf, type PackedEventRow } from "./inbox.ts";

/** What an earlier run of a unit left. */
interface LeftRow {
  readonly stage: Unit["stage"];
  readonly previews: string | null;
  readonly ending: string | null;
}

interface Member {
  readonly sequence: number;
  readonly id: string;
  readonly unit: number | null;
}

/** Gathered events of one key, oldest first; those whose turn is done already stay with their unit. */
function gathered(context: WriteContext, lane: string, head: Head, limit: number): readonly Member[] {
  const side = (withoutDue: 0 | 1) =>
    context.all<Member>(
      `SELECT sequence, id, unit FROM inbox
       WHERE state = 2 AND lane = ? AND gather_key = ? AND (due IS NULL) = ${withoutDue}
         AND NOT EXISTS (SELECT 1 FROM units u WHERE u.id = inbox.unit AND u.stage = 'delivery')
       ORDER BY sequence LIMIT ?`,
      lane,
      head.gather_key,
      limit,
    );
  const all = [...side(1), ...side(0)].sort((a, b) => a.sequence - b.sequence);
  const first = all.slice(0, limit);
  if (all.length <= limit || first.some((member) => member.sequence === head.sequence)) return first;
  return [...first.slice(0, limit - 1), ...all.filter((member) => member.sequence === head.sequence)];
}

/** Most messages have a key of their own, under which an edit may join them, and nothing else waits under it. */
function isAlone(context: WriteContext, lane: string, head: Head): boolean {
  if (head.stage === "delivery" || head.gather_key === null) return false;
  return (
    context.all(
      "SELECT sequence FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ? LIMIT 2",
      lane,
      head.gather_key,
    ).length === 1
  );
}

/** A waiting event is due at some time, or joins one that is: so one look shows whether a lane is at rest. */
function anyWaits(context: WriteContext, lane: string): boolean {
  return (
    context.one("SELECT 1 FROM inbox WHERE lane = ? AND state = 2 AND due IS NOT NULL LIMIT 1", lane) !== undefined
  );
}

function membersOf(
  context: WriteContext,
  lane: string,
  head: Head,
  { now, limit }: { readonly now: number; readonly limit: number },
): readonly Member[] {
  if (head.stage === "delivery") {
    const members = context.all<Member>(
      "SELECT sequence, id, unit FROM inbox WHERE unit = ? AND state = 2 ORDER BY sequence",
      head.unit,
    );
    const leader = context.one<{ event_id: string }>("SELECT event_id FROM units WHERE id = ?", head.unit)?.event_id;
    // What its turn took from a queue may be older than the event that leads it.
    return members.toSorted((a, b) => Number(b.id === leader) - Number(a.id === leader));
  }
  if (isQueueKey(head.gather_key)) return takeNewest(context, { lane, key: head.gather_key }, { now });
  return head.gather_key === null ? [head] : gathered(context, lane, head, Math.max(1, limit));
}

/** A unit that was handed back keeps its row, so that its decisions and previews stay with it. */
function openUnit(context: WriteContext, lane: string, leader: Member, members: readonly Member[]): number {
  const known = members.find((member) => member.unit !== null)?.unit;
  if (known === undefined || known === null) {
    return context.insert(
      "INSERT INTO units (event_id, lane, state) VALUES (?, ?, ?)",
      leader.id,
      lane,
      unitState.running,
    );
  }
  // The limit may leave one of its former events out this time.
  context.run("UPDATE inbox SET unit = NULL WHERE unit = ?", known);
  context.run(
    "UPDATE units SET state = ?, event_id = ?, not_before = 0 WHERE id = ?",
    unitState.running,
    leader.id,
    known,
  );
  return known;
}

const hasRun = ({ attempts, replays }: Head) => attempts > 0 || replays > 0;

export function claimWrites(context: WriteContext) {
  return {
    claim([lane, now, limit]: readonly [lane: string, now: number, limit: number]): ClaimResult {
      context.requireFence();
      if (context.one("SELECT 1 FROM units WHERE state = 1 AND lane = ?", lane)) return null;
      const head = headOf(context, lane);
      if (!head) return null;
      const alone = isAlone(context, lane, head);
      const due = alone ? dueSince(head, head.not_before, now) : dueOf(context, lane, head, now);
      if (due > now) return due;

      const members = alone ? [head] : membersOf(context, lane, head, { now, limit });
      const leader = members[0];
      if (!leader) throw new Error(`The head of the lane ${lane} has no events.`);
      const id = openUnit(context, lane, leader, members);
      const events: PackedEventRow[] = [];
      for (const { sequence } of members) {
        const event = context.oneList<PackedEventRow>(
          `UPDATE inbox SET state = 3, attempts = attempts + 1, unit = ? WHERE sequence = ? RETURNING ${eventColumns}`,
          id,
          sequence,
        );
        if (event) events.push(event);
      }
      context.count("waiting", -events.length);
      context.count("running", events.length);
      const again = members.some((member) => member.unit !== null);
      const left = again
        ? context.one<LeftRow>("SELECT stage, previews, ending FROM units WHERE id = ?", id)
        : undefined;
      const { stage, previews, ending } = left ?? { stage: "turn", previews: null, ending: null };
      const leftOut = stage === "turn" && isQueueKey(head.gather_key) ? leftOutOf(context, head.gather_key) : 0;
      // An event that an operator runs again has no attempts, and its earlier runs may have called tools.
      const isFirstRun = !again && members.length === 1 && leader.id === head.id && !hasRun(head);
      return [stage, previews, ending, leftOut, anyWaits(context, lane) ? 1 : 0, isFirstRun ? 1 : 0, events];
    },
  };
}
