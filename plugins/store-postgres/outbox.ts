/** The outbox: what turns send, part by part, until the platform has accepted it. */
import type { Json, OutboxRow, Part, Store } from "service-gateway/sdk/store";
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
    unsendable: (rowId, { at, reason }) => own("unsendable", rowId, at, reason),
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
        o.doubts
         FROM @inbox i JOIN @outbox o ON o.unit = i.unit WHERE i.id = $1 AND o.state < 2 ORDER BY o.position`,
        [unitId],
      );
      return rows.map(
        ({ id, position, channel, account, chat, thread, operation, part, state, attempts, doubts }): OutboxRow => ({
          id,
          unitId,
          index: position,
          address: { channel, account, chat, ...(thread !== null && { thread }) },
          operation,
          part: part as unknown as Part,
          state: states[state] ?? "waiting",
          attempts,
          doubts,
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
    async findSent(where) {
      // Asked for before the query: a record may be committed after the query has looked, and its write end before the
      // query does.
      const recorded = sentRecords.done();
      const found = await findSent(where);
      return found === null && (await recorded) ? findSent(where) : found;
    },
  } satisfies Partial<Store>;
}
