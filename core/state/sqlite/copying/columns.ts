/** Which columns of the tables a copy contains, under which names and in which form. */
import type { SQLInputValue } from "node:sqlite";
import type { Decision, Json } from "../../../contract/index.ts";
import { type CopyKind, type CopyRow, copyNamespace } from "../../copying.ts";
import { eventState, outboxStates } from "../database/schema.ts";
import { packDecisions, unpackDecisions } from "../records/decisions.ts";

interface Form {
  read(value: SQLInputValue): Json;
  write(value: Json): SQLInputValue;
}

export interface Field {
  readonly name: string;
  readonly expression: string;
  /** The column that is written; absent if `derived` writes it. */
  readonly column?: string;
  readonly form: Form;
}

export interface CopiedTable {
  readonly table: string;
  /** What is read, if it is not the table itself. */
  readonly from?: string;
  readonly key: readonly string[];
  readonly fields: readonly Field[];
  /** Columns that are computed from the whole row. */
  readonly derived?: Readonly<Record<string, (row: CopyRow) => SQLInputValue>>;
  /** SQL for the number of characters of a row's long columns. */
  readonly size: string;
}

const plain: Form = {
  read: (value) =>
    typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : (value as Json),
  write: (value) => value as SQLInputValue,
};

const time: Form = {
  read: (value) => (value === Number.POSITIVE_INFINITY ? "Infinity" : (value as Json)),
  write: (value) => (value === "Infinity" ? Number.POSITIVE_INFINITY : (value as SQLInputValue)),
};

const flag: Form = { read: (value) => value === 1, write: (value) => (value === true ? 1 : 0) };

/** Other databases cannot store U+0000 in JSON that they read. After an escaped backslash, `u0000` is only a text. */
const withoutNull = (text: string): string => text.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\\ufffd");

const json: Form = {
  read: (value) => (value === null ? null : (JSON.parse(withoutNull(String(value))) as Json)),
  write: (value) => (value === null ? null : JSON.stringify(value)),
};

const decisions: Form = {
  read: (value) => unpackDecisions(withoutNull(String(value))) as unknown as Json,
  write: (value) => packDecisions(value as unknown as readonly Decision[]) ?? "[]",
};

/** A number in the table, a word in the copy. What runs is waiting in the copy. */
function words(numbers: Readonly<Record<string, number>>): Form {
  const names = new Map(Object.entries(numbers).map(([word, number]) => [number, word]));
  return {
    read: (value) => names.get(Number(value)) ?? "waiting",
    write: (value) => numbers[String(value)] ?? 0,
  };
}

const { waiting, answered, silent, refused, failed } = eventState;
const eventStates = words({ waiting, answered, silent, refused, failed });
const unitStates = words({ waiting: 0, settled: 2 });
const rowStates = words(Object.fromEntries(outboxStates.map((word, number) => [word, number])));

const field = (name: string, column: string, form: Form = plain): Field => ({ name, expression: column, column, form });
const computed = (name: string, expression: string, form: Form = plain): Field => ({ name, expression, form });
const inAddress = (name: string): Field => computed(name, `json_extract(address, '$.${name}')`);

/**
 * Events of an outcome that are no longer in the inbox are a counter; the embedded store's own totals include those
 * that are.
 */
const outcomes = ["answered", "silent", "refused", "failed"] as const;
const removed = outcomes.map(
  (outcome) =>
    `SELECT 'removed:${outcome}' AS name, value - (SELECT count(*) FROM inbox WHERE state = ${eventState[outcome]})
    AS value
     FROM numbers WHERE name = '${outcome}'`,
);
const counters = `(SELECT name, value FROM (
    SELECT name, value FROM numbers WHERE name GLOB 'left_out:*' OR name GLOB 'removed:*'
      UNION ALL ${removed.join(" UNION ALL ")}
  ) WHERE value > 0)`;

/** All kinds but messages, whose order is in their chain. */
export const copiedTables: Readonly<Record<Exclude<CopyKind, "message">, CopiedTable>> = {
  counter: {
    table: "numbers",
    from: counters,
    key: ["name"],
    fields: [field("name", "name"), field("value", "value")],
    size: "0",
  },
  event: {
    table: "inbox",
    key: ["sequence"],
    fields: [
      field("sequence", "sequence"),
      field("id", "id"),
      field("state", "state", eventStates),
      field("attempts", "attempts"),
      field("replays", "replays"),
      field("unit", "unit"),
      field("acceptedAt", "accepted_at", time),
      field("due", "due", time),
      field("source", "source"),
      field("kind", "kind"),
      field("account", "account"),
      field("lane", "lane"),
      field("authority", "authority"),
      field("gatherKey", "gather_key"),
      field("extend", "extend", flag),
      field("dedupeKey", "dedupe_key"),
      field("body", "body"),
    ],
    size: "length(body)",
  },
  dedupe: {
    table: "dedupe",
    key: ["key"],
    fields: [
      field("key", "key"),
      field("eventId", "event_id"),
      field("fingerprint", "fingerprint"),
      field("until", "until", time),
    ],
    size: "0",
  },
  unit: {
    table: "units",
    key: ["id"],
    fields: [
      field("id", "id"),
      field("eventId", "event_id"),
      field("lane", "lane"),
      field("state", "state", unitStates),
      field("stage", "stage"),
      field("notBefore", "not_before", time),
      field("preview", "previews"),
      field("ending", "ending"),
      field("outcome", "outcome"),
      field("reason", "reason"),
      field("settledAt", "settled_at", time),
      field("sessionKey", "session_key"),
      field("agentId", "agent_id"),
      field("reply", "reply"),
    ],
    size: "coalesce(length(reply), 0) + coalesce(length(ending), 0)",
  },
  decision: {
    table: "decisions",
    key: ["id"],
    fields: [field("id", "id"), field("unit", "unit"), field("entries", "entries", decisions)],
    size: "length(entries)",
  },
  outbox: {
    table: "outbox",
    key: ["id"],
    fields: [
      field("id", "id"),
      field("unit", "unit"),
      field("unitId", "unit_id"),
      field("index", "position"),
      ...["channel", "account", "chat", "thread"].map(inAddress),
      field("operation", "operation"),
      field("part", "part"),
      field("state", "state", rowStates),
      field("attempts", "attempts"),
      field("doubts", "doubts"),
      field("sendingSince", "sending_since", time),
      computed(
        "messageIds",
        "CASE WHEN message_id IS NULL THEN NULL ELSE coalesce(message_ids, json_array(message_id)) END",
        json,
      ),
      field("endedAt", "ended_at", time),
      field("reason", "reason"),
    ],
    derived: {
      address: ({ channel, account, chat, thread }) =>
        JSON.stringify({ channel, account, chat, ...(thread === null ? {} : { thread }) }),
      message_id: ({ messageIds }) => messageIdsOf(messageIds)[0] ?? null,
      message_ids: ({ messageIds }) => (messageIdsOf(messageIds).length > 1 ? JSON.stringify(messageIds) : null),
    },
    size: "length(part)",
  },
  sent: {
    table: "sent",
    key: ["message_id", "chat", "account", "channel"],
    fields: [
      field("messageId", "message_id"),
      field("chat", "chat"),
      field("account", "account"),
      field("channel", "channel"),
      field("thread", "thread"),
      field("unitId", "unit_id"),
      field("at", "at", time),
    ],
    size: "0",
  },
  session: {
    table: "sessions",
    key: ["key"],
    fields: [
      field("key", "key"),
      field("agentId", "agent_id"),
      field("generation", "generation"),
      field("lastRecipient", "last_recipient", json),
      field("settings", "settings", json),
      field("updatedAt", "updated_at", time),
    ],
    size: "length(settings)",
  },
  transcript: {
    table: "transcripts",
    key: ["id"],
    fields: [field("id", "id"), field("sessionKey", "session_key"), field("generation", "generation")],
    derived: { messages: () => 0 },
    size: "0",
  },
  summary: {
    table: "summaries",
    key: ["id"],
    fields: [
      field("id", "id"),
      field("transcript", "transcript"),
      field("until", "until"),
      field("messages", "messages"),
      field("model", "model"),
      field("at", "at", time),
      field("text", "content"),
    ],
    size: "length(content)",
  },
  modelCall: {
    table: "model_calls",
    key: ["id"],
    fields: [
      field("id", "id"),
      field("at", "at", time),
      field("agentId", "agent_id"),
      field("model", "model"),
      field("purpose", "purpose"),
      field("sessionKey", "session_key"),
      field("channel", "channel"),
      field("account", "account"),
      field("sender", "sender"),
      field("eventId", "event_id"),
      field("inputTokens", "input_tokens"),
      field("outputTokens", "output_tokens"),
      field("cacheRead", "cache_read"),
      field("cacheWrite", "cache_write"),
      field("reasoning", "reasoning"),
      field("usd", "usd"),
      field("priceSource", "price_source"),
      field("estimated", "estimated", flag),
    ],
    size: "0",
  },
  keyValue: {
    table: "kv",
    from: `(SELECT * FROM kv WHERE namespace <> '${copyNamespace}')`,
    key: ["namespace", "key"],
    fields: [
      field("namespace", "namespace"),
      field("key", "key"),
      field("value", "value"),
      field("expiresAt", "expires_at", time),
    ],
    size: "length(value)",
  },
};

const messageIdsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly string[]) : [];
