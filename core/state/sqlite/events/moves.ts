/** Moves a chat to a new platform id, along with its waiting events and the messages passed over. */

import { encodeLanePart } from "../../lane.ts";
import { unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { moveTranscripts } from "../records/transcripts.ts";

export interface MoveInput {
  readonly channel: string;
  readonly account: string;
  readonly from: string;
  readonly to: string;
  readonly sessions: readonly { readonly from: string; readonly to: string }[];
  readonly at: number;
}

/** Limits the size of one write; a chat produces this much in several days. */
const mostPassedOver = 10_000;

interface Waiting {
  readonly sequence: number;
  readonly lane: string;
  readonly unit: number | null;
}

interface SessionRow {
  readonly agent_id: string;
  readonly generation: number;
  readonly last_recipient: string | null;
  readonly settings: string;
  readonly updated_at: number;
}

/** A chat's own lane, those of its threads, and their command lanes, as ranges for the index. */
function rangesOf(lane: string): readonly (readonly [from: string, to: string])[] {
  return [
    [lane, `${lane}\u0000`],
    [`${lane}:`, `${lane};`],
    [`${lane}\t`, `${lane}\n`],
  ];
}

function moveWaiting(context: WriteContext, from: string, to: string): number {
  const moved = new Map<number, Waiting>();
  for (const [low, high] of rangesOf(from)) {
    const inLanes = "SELECT sequence, lane, unit FROM inbox WHERE state = 2 AND lane >= ? AND lane < ?";
    const heads = context.all<Waiting>(`${inLanes} AND due IS NOT NULL`, low, high);
    const gathered = context.all<Waiting>(`${inLanes} AND gather_key IS NOT NULL`, low, high);
    for (const event of [...heads, ...gathered]) moved.set(event.sequence, event);
  }
  for (const { sequence, lane, unit } of moved.values()) {
    const next = `${to}${lane.slice(from.length)}`;
    context.run("UPDATE inbox SET lane = ? WHERE sequence = ?", next, sequence);
    // A running unit keeps its lane until it is done. Nothing in the new lane can overtake it there.
    if (unit !== null)
      context.run(
        "UPDATE units SET lane = ?, previews = NULL WHERE id = ? AND state = ?",
        next,
        unit,
        unitState.waiting,
      );
  }
  return moved.size;
}

/** Messages that the old chat passed over become context for messages in the new one. */
function movePassedOver(context: WriteContext, from: string, to: string): void {
  for (const [low, high] of rangesOf(from)) {
    const found = context.all<{ sequence: number; lane: string }>(
      "SELECT sequence, lane FROM inbox WHERE state = 5 AND lane >= ? AND lane < ? LIMIT ?",
      low,
      high,
      mostPassedOver,
    );
    for (const { sequence, lane } of found)
      context.run("UPDATE inbox SET lane = ? WHERE sequence = ?", `${to}${lane.slice(from.length)}`, sequence);
  }
}

/**
 * Readdresses waiting replies, both of waiting units and of those being sent. Message ids differ in the new chat, so
 * these replies replace and quote nothing there. Messages to be removed are removed in the old chat.
 */
function readdress(context: WriteContext, { channel, account, from, to }: MoveInput): void {
  const units = new Set<number>();
  for (const lane of [from, to].map((chat) => `${channel}:${account}:${encodeLanePart(chat)}`)) {
    for (const [low, high] of rangesOf(lane)) {
      const running = context.all<{ id: number }>(
        "SELECT id FROM units WHERE state = 1 AND lane >= ? AND lane < ?",
        low,
        high,
      );
      const waiting = context.all<{ id: number }>(
        "SELECT unit AS id FROM inbox WHERE state = 2 AND due IS NOT NULL AND unit IS NOT NULL AND lane >= " +
          "? AND lane < ?",
        low,
        high,
      );
      for (const { id } of [...running, ...waiting]) units.add(id);
    }
  }
  for (const unit of units) {
    for (const { id, address, part } of context.all<{ id: number; address: string; part: string }>(
      "SELECT id, address, part FROM outbox WHERE unit = ? AND state < 2 AND operation = 'send'",
      unit,
    )) {
      const place = JSON.parse(address) as {
        readonly channel: string;
        readonly account: string;
        readonly chat: string;
      };
      if (place.channel !== channel || place.account !== account || place.chat !== from) continue;
      const {
        replaces: _changed,
        replyTo: _answered,
        ...rest
      } = JSON.parse(part) as { readonly replaces?: string; readonly replyTo?: string };
      context.run(
        "UPDATE outbox SET address = ?, part = ? WHERE id = ?",
        JSON.stringify({ ...place, chat: to }),
        JSON.stringify(rest),
        id,
      );
    }
  }
}

/**
 * Moves a session. If the target already has one, the older conversation comes first, and its last generation is merged
 * with the target's first one.
 */
function moveSession(context: WriteContext, from: string, to: string): void {
  const read = "SELECT agent_id, generation, last_recipient, settings, updated_at FROM sessions WHERE key = ?";
  const before = context.one<SessionRow>(read, from);
  const there = context.one<SessionRow>(read, to);
  const generations = before?.generation ?? 0;
  moveTranscripts(context, { from, to, last: generations });
  if (before === undefined) return;
  const settings = { ...(JSON.parse(before.settings) as object), ...(JSON.parse(there?.settings ?? "{}") as object) };
  context.run(
    "INSERT OR REPLACE INTO sessions (key, agent_id, generation, last_recipient, settings, updated_at) " +
      "VALUES (?, ?, ?, ?, ?, ?)",
    to,
    there?.agent_id ?? before.agent_id,
    generations + (there?.generation ?? 0),
    there?.last_recipient ?? before.last_recipient,
    JSON.stringify(settings),
    Math.max(before.updated_at, there?.updated_at ?? 0),
  );
  context.run("DELETE FROM sessions WHERE key = ?", from);
}

export function moveWrites(context: WriteContext) {
  return {
    moveChat(move: MoveInput): { readonly moved: number } {
      context.requireFence();
      const lane = (chat: string) => `${move.channel}:${move.account}:${encodeLanePart(chat)}`;
      const moved = moveWaiting(context, lane(move.from), lane(move.to));
      movePassedOver(context, lane(move.from), lane(move.to));
      readdress(context, move);
      for (const { from, to } of move.sessions) moveSession(context, from, to);
      return { moved };
    },
  };
}
