/** The end of a part that was to be sent, and what is remembered of a message that was. */
import type { Address, Receipt } from "../../types.ts";
import type { OutboxRow } from "../store.ts";
import type { Desk } from "./desk.ts";

export interface SentInput {
  readonly rowId: number;
  readonly messageId: string;
  /** Of all messages that the part became; absent: of the one. */
  readonly messageIds?: readonly string[] | undefined;
  readonly at: number;
}

/** Of a receipt only what is ours: a channel may have put anything beside it, and not all of that reaches another thread. */
export function idsOf({ messageId, messageIds }: Receipt): Pick<SentInput, "messageId" | "messageIds"> {
  return { messageId, messageIds };
}

interface EndedRow {
  readonly unit_id: string;
  readonly address: string;
  readonly operation: OutboxRow["operation"];
}

/** Ends a row that is not at its end; `undefined` when there is no such row. */
export function endRow(
  desk: Desk,
  rowId: number,
  { state, at, messageIds = [], reason = null }: { state: 2 | 3; at: number; messageIds?: readonly string[]; reason?: string | null },
): EndedRow | undefined {
  const row = desk.one<EndedRow>(
    `UPDATE outbox SET state = ?, ended_at = ?, message_id = ?, message_ids = ?, reason = ? WHERE id = ? AND state < 2
     RETURNING unit_id, address, operation`,
    state,
    at,
    messageIds[0] ?? null,
    messageIds.length > 1 ? JSON.stringify(messageIds) : null,
    reason,
    rowId,
  );
  if (row) desk.count("outbox", -1);
  return row;
}

export function recordSent(desk: Desk, { rowId, messageId, messageIds = [messageId], at }: SentInput): void {
  const row = endRow(desk, rowId, { state: 2, at, messageIds });
  if (row?.operation !== "send") return;
  const address = JSON.parse(row.address) as Address;
  for (const each of messageIds) remember(desk, each, { address, unitId: row.unit_id, at });
}

function remember(
  desk: Desk,
  messageId: string,
  { address, unitId, at }: { readonly address: Address; readonly unitId: string; readonly at: number },
): void {
  const { channel, account, chat, thread } = address;
  desk.run(
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
