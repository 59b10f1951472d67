/** Ends outbox rows and records sent messages. */
import type { Address, Receipt } from "../../../contract/index.ts";
import type { OutboxRow } from "../../outbox-row.ts";
import type { WriteContext } from "../database/writer-database.ts";

/** A sent row on its way to the writer. `messageIds` lists all messages of the part; `null` if there is only one. */
export type PackedSent = readonly [rowId: number, at: number, messageId: string, messageIds: readonly string[] | null];

/**
 * Packs only the fields of the contract: a channel may add others to a receipt, and not every value can be sent to
 * another thread.
 */
export function packSent(rowId: number, { messageId, messageIds }: Receipt, at: number): PackedSent {
  return [rowId, at, messageId, messageIds ?? null];
}

/** The facts about an ended row that callers need. */
type EndedRow = readonly [unitId: string, address: string, operation: OutboxRow["operation"]];

/** Ends a row that has not ended; `undefined` if there is no such row. */
export function endRow(
  context: WriteContext,
  rowId: number,
  {
    state,
    at,
    messageIds = [],
    reason = null,
  }: { state: 2 | 3; at: number; messageIds?: readonly string[]; reason?: string | null },
): EndedRow | undefined {
  // A separate SELECT is cheaper than RETURNING, for which SQLite builds a temporary table.
  const row = context.oneList<EndedRow>(
    "SELECT unit_id, address, operation FROM outbox WHERE id = ? AND state < 2",
    rowId,
  );
  if (row === undefined) return undefined;
  context.run(
    "UPDATE outbox SET state = ?, ended_at = ?, message_id = ?, message_ids = ?, reason = ? WHERE id = ?",
    state,
    at,
    messageIds[0] ?? null,
    messageIds.length > 1 ? JSON.stringify(messageIds) : null,
    reason,
    rowId,
  );
  context.count("outbox", -1);
  return row;
}

export function recordSent(context: WriteContext, [rowId, at, messageId, messageIds]: PackedSent): void {
  const ids = messageIds ?? [messageId];
  const [unitId, address, operation] = endRow(context, rowId, { state: 2, at, messageIds: ids }) ?? [];
  if (unitId === undefined || address === undefined || operation !== "send") return;
  const place = JSON.parse(address) as Address;
  for (const each of ids) remember(context, each, { address: place, unitId, at });
}

function remember(
  context: WriteContext,
  messageId: string,
  { address, unitId, at }: { readonly address: Address; readonly unitId: string; readonly at: number },
): void {
  const { channel, account, chat, thread } = address;
  context.run(
    "INSERT OR REPLACE INTO sent (channel, account, chat, message_id, thread, unit_id, at) VALUES (?, ?, ?, " +
      "?, ?, ?, ?)",
    channel,
    account,
    chat,
    messageId,
    thread ?? null,
    unitId,
    at,
  );
}
