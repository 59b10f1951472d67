/** The outbox: what turns send, part by part, until the platform has accepted it. */
import type { Address, Part } from "../../../contract/index.ts";
import { forgottenPart, type OutboxRow } from "../../outbox-row.ts";
import type { Store } from "../../store.ts";
import { outboxStates } from "../database/schema.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";
import { endRow, type PackedSent, recordSent } from "../records/sent.ts";
import { type PackedMessage, packMessage, writeTranscript } from "../records/transcripts.ts";
import { giveBackTaken, keepTaken } from "./taken-events.ts";
import { runningUnit } from "./units.ts";

const sentMs = 30 * 24 * 3_600_000;

/** The result of a turn on its way to the writer, as a flat list because this is the hot path. */
export type PackedSaying = readonly [
  unitId: string,
  /** JSON text. */
  ending: string,
  rows: readonly (readonly [address: string, operation: string, part: string])[],
  at: number,
  /** Index of the row that is sent at once; -1 if none. */
  sending: number,
  sessionKey: string | null,
  messages: readonly PackedMessage[],
  decisions: string | null,
  /** Row of the unit, if known. */
  row: number | null,
  /** What happens to the events that the unit took from a queue. */
  taken: "none" | "ended" | "unread",
];

export function packSaying(
  { unitId, at, rows, first, ending, transcript, decisions, tookQueued }: Parameters<Store["say"]>[0],
  row: number | null,
): PackedSaying {
  return [
    unitId,
    JSON.stringify(ending),
    rows.map(({ address, operation, part }) => [JSON.stringify(address), operation, JSON.stringify(part)] as const),
    at,
    first === "waiting" ? -1 : 0,
    transcript?.sessionKey ?? null,
    transcript?.messages.map(packMessage) ?? [],
    packDecisions(decisions),
    row,
    tookQueued !== true ? "none" : ending.unread === true ? "unread" : "ended",
  ];
}

/** The unit whose stage becomes `delivery`, and what it has written before. */
interface Speaking {
  readonly id: number;
  /** The unit ran again, so some of its parts may already be in the outbox. */
  readonly anew: boolean;
  /** The unit may already have written to the transcript. */
  readonly again: boolean;
}

function speak(context: WriteContext, unitId: string, ending: string, row: number | null): Speaking {
  context.requireFence();
  const isNew =
    row !== null &&
    context.run(
      "UPDATE units SET stage = 'delivery', ending = ? WHERE id = ? AND event_id = ? AND state = 1 AND stage = 'turn'",
      ending,
      row,
      unitId,
    ) > 0;
  if (isNew) return { id: row, anew: false, again: false };
  const { id, stage, replays } = runningUnit(context, unitId);
  context.run("UPDATE units SET stage = 'delivery', ending = ? WHERE id = ?", ending, id);
  return { id, anew: stage !== "turn", again: stage !== "turn" || replays > 0 };
}

export function outboxWrites(context: WriteContext) {
  const markSending = (rowId: number, at: number) =>
    context.run(
      "UPDATE outbox SET state = 1, attempts = attempts + 1, sending_since = coalesce(sending_since, ?) " +
        "WHERE id = ? AND state < 2",
      at,
      rowId,
    );

  return {
    /** Stores the rows. Returns the id and index of each. */
    say([
      unitId,
      ending,
      rows,
      at,
      sending,
      sessionKey,
      messages,
      decisions,
      row,
      taken,
    ]: PackedSaying): readonly (readonly [id: number, index: number])[] {
      const unit = speak(context, unitId, ending, row);
      if (taken === "unread") giveBackTaken(context, unit.id, 1);
      else if (taken === "ended") keepTaken(context, unit.id);
      // A unit stores all its rows at once, unless it ran again.
      const before = unit.anew
        ? context.one<{ last: number | null }>("SELECT max(position) AS last FROM outbox WHERE unit = ?", unit.id)
        : undefined;
      const next = (before?.last ?? -1) + 1;
      const placed = rows.map(([address, operation, part], offset) => {
        const marked = offset === sending ? 1 : 0;
        const id = context.insert(
          "INSERT INTO outbox (unit, unit_id, position, address, operation, part, state, attempts, " +
            "sending_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
          unit.id,
          unitId,
          next + offset,
          address,
          operation,
          part,
          marked,
          marked,
          marked === 1 ? at : null,
        );
        return [id, next + offset] as const;
      });
      if (sessionKey !== null) writeTranscript(context, { unitId, again: unit.again }, sessionKey, messages);
      appendDecisions(context, unit.id, decisions);
      context.count("outbox", placed.length);
      return placed;
    },

    sending({ rowId, at }: { readonly rowId: number; readonly at: number }): void {
      context.requireFence();
      markSending(rowId, at);
    },

    notSent({ rowId }: { readonly rowId: number }): void {
      context.requireFence();
      context.run("UPDATE outbox SET state = 0, sending_since = NULL WHERE id = ? AND state = 1", rowId);
    },

    doubted({ rowId, decisions }: { readonly rowId: number; readonly decisions: string | null }): void {
      context.requireFence();
      const row = context.one<{ readonly unit: number }>(
        "UPDATE outbox SET state = 0, doubts = doubts + 1 WHERE id = ? AND state < 2 RETURNING unit",
        rowId,
      );
      if (row !== undefined) appendDecisions(context, row.unit, decisions);
    },

    sent({ sent, next }: { readonly sent: PackedSent; readonly next: number | null }): void {
      context.requireFence();
      recordSent(context, sent);
      const [, at] = sent;
      if (next !== null) markSending(next, at);
    },

    unsendable({
      rowId,
      at,
      reason,
      forget = false,
    }: { readonly rowId: number } & Parameters<Store["unsendable"]>[1]): void {
      context.requireFence();
      const ended = endRow(context, rowId, { state: 3, at, reason });
      if (forget && ended !== undefined)
        context.run("UPDATE outbox SET part = ? WHERE id = ?", JSON.stringify(forgottenPart), rowId);
    },
  };
}

interface WaitingRow {
  readonly id: number;
  readonly position: number;
  readonly address: string;
  readonly operation: OutboxRow["operation"];
  readonly part: string;
  readonly state: number;
  readonly attempts: number;
  readonly doubts: number;
  readonly sending_since: number | null;
}

export function outboxReads(sql: Statements, now: () => number) {
  return {
    unsent(unitId: string): readonly OutboxRow[] {
      const rows = sql.all<WaitingRow>(
        `SELECT o.id, o.position, o.address, o.operation, o.part, o.state, o.attempts, o.doubts,
           o.sending_since
         FROM inbox i JOIN outbox o ON o.unit = i.unit WHERE i.id = ? AND o.state < 2 ORDER BY o.position`,
        unitId,
      );
      return rows.map((row) => ({
        id: row.id,
        unitId,
        index: row.position,
        address: JSON.parse(row.address) as Address,
        operation: row.operation,
        part: JSON.parse(row.part) as Part,
        state: outboxStates[row.state] ?? "waiting",
        attempts: row.attempts,
        doubts: row.doubts,
        ...(row.sending_since !== null && { sendingForMs: now() - row.sending_since }),
      }));
    },

    failedPart(unitId: string): string | null {
      const row = sql.one<{ readonly reason: string | null }>(
        `SELECT o.reason FROM inbox i JOIN outbox o ON o.unit = i.unit WHERE i.id = ? AND o.state = 3
        AND o.operation = 'send'
         ORDER BY o.position LIMIT 1`,
        unitId,
      );
      return row?.reason ?? null;
    },

    sentBy(unitId: string): readonly { readonly chat: string; readonly messageId: string }[] {
      const rows = sql.all<{
        readonly address: string;
        readonly message_id: string;
        readonly message_ids: string | null;
      }>(
        `SELECT o.address, o.message_id, o.message_ids
         FROM inbox i JOIN outbox o ON o.unit = i.unit WHERE i.id = ? AND o.state = 2 AND o.operation = 'send'
           ORDER BY o.position`,
        unitId,
      );
      return rows.flatMap(({ address, message_id, message_ids }) => {
        const { chat } = JSON.parse(address) as Address;
        const ids = message_ids === null ? [message_id] : (JSON.parse(message_ids) as readonly string[]);
        return ids.map((messageId) => ({ chat, messageId }));
      });
    },

    sentMessages(where: { readonly channel: string; readonly account: string; readonly messageId: string }) {
      const rows = sql.all<{ chat: string; thread: string | null; unit_id: string }>(
        "SELECT chat, thread, unit_id FROM sent WHERE message_id = ? AND account = ? AND channel = ? AND at >= ?",
        where.messageId,
        where.account,
        where.channel,
        now() - sentMs,
      );
      return rows.map(({ chat, thread, unit_id }) => ({ chat, ...(thread !== null && { thread }), unitId: unit_id }));
    },

    findSent(where: { channel: string; account: string; chat: string; messageId: string }) {
      const row = sql.one<{ unit_id: string; thread: string | null; at: number }>(
        "SELECT unit_id, thread, at FROM sent WHERE channel = ? AND account = ? AND chat = ? AND message_id = ?",
        where.channel,
        where.account,
        where.chat,
        where.messageId,
      );
      if (!row || row.at < now() - sentMs) return null;
      return { unitId: row.unit_id, ...(row.thread !== null && { thread: row.thread }) };
    },
  };
}
