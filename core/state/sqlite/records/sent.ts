/** The end of a part that was to be sent, and what is remembered of a message that was. */
import type { Address, Receipt } from "../../../contract/index.ts";
import type { OutboxRow } from "../../store.ts";
import type { WriteContext } from "../database/writer-database.ts";

/** A row that was sent, on its way to the writer; `messageIds` of all messages that the part became, `null`: of the one. */
export type PackedSent = readonly [rowId: number, at: number, messageId: string, messageIds: readonly string[] | null];

/** Only the fields of the contract: a channel may add others to a receipt, and not every value can be sent to another thread. */
export function packSent(rowId: number, { messageId, messageIds }: Receipt, at: number): PackedSent {
  return [rowId, at, messageId, messageIds ?? null];
}

/** What is to be known of a row that ends. */
type EndedRow = readonly [unitId: string, address: string, operation: OutboxRow["operation"]];

/** Ends a row that is not at its end; `undefined` when there is no such row. */
export function endRow(
  context: WriteContext,
  rowId: number,
  { state, at, messageIds = [], reason = null }: { state: 2 | 3; at: number; messageIds?: readonly string[]; reason?: string | null },
): EndedRow | undefined {
  // Not RETURNING from the change: SQLite keeps a table for what that returns, which costs more than a second look at the row.
  const row = context.oneList<EndedRow>("SELECT unit_id, address, operation FROM outbox WHERE id = ? AND state < 2", rowId);
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
    "INSERT OR REPLACE INTO sent (channel, account, chat, message_id, thread, unit_id, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    channel,
    account,
    chat,
    messageId,
    thread ?? null,
    unitId,
    at,
  );
}
