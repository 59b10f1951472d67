/** The outbox: what turns send, part by part, until the platform has accepted it. */
import { forgottenPart, type Json, type OutboxRow, type Part, type Store } from "service-gateway/sdk/store";
import { packDecisions } from "./decisions.ts";
import type { Database } from "./pool.ts";
import { packReceipt, type SentRecords } from "./sent-records.ts";
import { createSharedCalls } from "./shared-calls.ts";
import type { WorkParts } from "./work.ts";

const keepSentMs = 30 * 24 * 3_600_000;
const states = ["waiting", "sending", "sent", "failed"] as const;

export function outboxWrites(
  database: Database,
  { lease, units, sentRecords }: Pick<WorkParts, "lease" | "units" | "sentRecords">,
) {
  const own = async (name: string, ...values: readonly unknown[]): Promise<void> => {
    await database.call(name, [...lease.values(), ...values]);
  };
  const shared = createSharedCalls(database, "say");
  return {
    async say({ unitId, rows, first, tookQueued, ending, transcript, decisions }) {
      const messages = transcript?.messages ?? [];
      const values = [
        JSON.stringify(ending),
        rows.map(({ address }) => address.channel),
        rows.map(({ address }) => address.account),
        rows.map(({ address }) => address.chat),
        rows.map(({ address }) => address.thread ?? null),
        rows.map(({ operation }) => operation),
        rows.map(({ part }) => JSON.stringify(part)),
        first !== "waiting",
        tookQueued !== true ? "none" : ending.unread === true ? "unread" : "ended",
        transcript?.sessionKey ?? null,
        messages.map(({ role }) => role),
        messages.map(({ content }) => JSON.stringify(content)),
        messages.map(({ at }) => at),
        messages.map((message) => message.unitId ?? null),
        ...packDecisions(decisions),
      ];
      const placed = await units.withToken(`say ${unitId}`, (token) => {
        const all = [...lease.values(), unitId, token, ...values];
        // Events of a queue concern other units too.
        return tookQueued === true ? database.call<Placed>("say", all) : shared<Placed>(all);
      });
      return rows.map((row, offset): OutboxRow => {
        const { id, position } = placed[offset] ?? { id: 0, position: 0 };
        const marked = offset === 0 && first !== "waiting";
        return {
          id,
          unitId,
          index: position,
          ...row,
          state: marked ? "sending" : "waiting",
          attempts: marked ? 1 : 0,
          doubts: 0,
        };
      });
    },
    sending: (rowId) => own("sending", rowId),
    notSent: (rowId) => own("not_sent", rowId),
    doubted: (rowId, { decisions }) => own("doubted", rowId, ...packDecisions(decisions)),
    sent: (rowId, receipt, { at, next }) =>
      sentRecords.during(own("sent", ...packReceipt({ rowId, receipt, at }), next ?? null)),
    async unsendable(rowId, { at, reason, forget = false }) {
      await own("unsendable", rowId, at, reason);
      if (forget)
        await database.query("UPDATE @outbox SET part = $2 WHERE id = $1 AND state = 3", [
          rowId,
          JSON.stringify(forgottenPart),
        ]);
    },
  } satisfies Partial<Store>;
}

interface Placed {
  readonly id: number;
  readonly position: number;
}

interface WaitingRow {
  readonly id: number;
  readonly position: number;
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly thread: string | null;
  readonly operation: OutboxRow["operation"];
  readonly part: Json;
  readonly state: number;
  readonly attempts: number;
  readonly doubts: number;
  readonly sending_for: number | null;
}

export function outboxReads(database: Database, now: () => number, sentRecords: SentRecords) {
  const findSent: Store["findSent"] = async ({ channel, account, chat, messageId }) => {
    const [row] = await database.query<{ unit_id: string; thread: string | null }>(
      "SELECT unit_id, thread FROM @sent WHERE message_id = $1 AND chat = $2 AND account = $3 AND channel = " +
        "$4 AND at >= $5",
      [messageId, chat, account, channel, now() - keepSentMs],
    );
    return row === undefined ? null : { unitId: row.unit_id, ...(row.thread !== null && { thread: row.thread }) };
  };
  return {
    async unsent(unitId) {
      const rows = await database.query<WaitingRow>(
        `SELECT o.id, o.position, o.channel, o.account, o.chat, o.thread, o.operation, o.part, o.state, o.attempts,
        o.doubts, extract(epoch FROM clock_timestamp())::float8 * 1000 - o.sending_since AS sending_for
         FROM @inbox i JOIN @outbox o ON o.unit = i.unit WHERE i.id = $1 AND o.state < 2 ORDER BY o.position`,
        [unitId],
      );
      return rows.map(
        ({ id, position, channel, account, chat, thread, operation, part, ...row }): OutboxRow => ({
          id,
          unitId,
          index: position,
          address: { channel, account, chat, ...(thread !== null && { thread }) },
          operation,
          part: part as unknown as Part,
          state: states[row.state] ?? "waiting",
          attempts: row.attempts,
          doubts: row.doubts,
          ...(row.sending_for !== null && { sendingForMs: row.sending_for }),
        }),
      );
    },
    async failedPart(unitId) {
      const [row] = await database.query<{ reason: string | null }>(
        `SELECT o.reason FROM @inbox i JOIN @outbox o ON o.unit = i.unit
         WHERE i.id = $1 AND o.state = 3 AND o.operation = 'send' ORDER BY o.position LIMIT 1`,
        [unitId],
      );
      return row?.reason ?? null;
    },
    async sentBy(unitId) {
      const rows = await database.query<{ chat: string; message_ids: readonly string[] }>(
        `SELECT o.chat, o.message_ids FROM @inbox i JOIN @outbox o ON o.unit = i.unit
         WHERE i.id = $1 AND o.state = 2 AND o.operation = 'send' ORDER BY o.position`,
        [unitId],
      );
      return rows.flatMap(({ chat, message_ids }) => message_ids.map((messageId) => ({ chat, messageId })));
    },
    async sentMessages({ channel, account, messageId }) {
      const read = () =>
        database.query<{ chat: string; thread: string | null; unit_id: string }>(
          `SELECT chat, thread, unit_id FROM @sent
           WHERE message_id = $1 AND account = $2 AND channel = $3 AND at >= $4`,
          [messageId, account, channel, now() - keepSentMs],
        );
      const recorded = sentRecords.done();
      const found = await read();
      const rows = found.length === 0 && (await recorded) ? await read() : found;
      return rows.map(({ chat, thread, unit_id }) => ({ chat, ...(thread !== null && { thread }), unitId: unit_id }));
    },
    async addDecision(unitId, decision) {
      // The row of the unit is locked, so that two nodes do not both add it.
      const rows = await database.query(
        `WITH unit AS (SELECT u.id FROM @inbox i JOIN @units u ON u.id = i.unit WHERE i.id = $1 FOR UPDATE OF u)
         INSERT INTO @decisions (unit, entries)
           SELECT unit.id, $2 FROM unit WHERE NOT EXISTS (
             SELECT 1 FROM @decisions d, json_array_elements(d.entries) e
             WHERE d.unit = unit.id AND e->>'station' = $3 AND e->>'code' = $4 AND e->>'detail' IS NOT DISTINCT FROM $5)
         RETURNING unit`,
        [unitId, JSON.stringify([decision]), decision.station, decision.code, decision.detail ?? null],
      );
      return rows.length > 0;
    },
    async findSent(where) {
      // Asked for before the query: a record may be committed after the query has looked, and its write end before the
      // query does.
      const recorded = sentRecords.done();
      const found = await findSent(where);
      return found === null && (await recorded) ? findSent(where) : found;
    },
  } satisfies Partial<Store>;
}
