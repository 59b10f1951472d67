/** Which columns of the tables a copy contains, under which names and in which form. */
import { type CopyKind, copyNamespace } from "service-gateway/sdk/store";
import { outcomeStates } from "./schema/tables.ts";

export interface Field {
  readonly name: string;
  /** What is read. */
  readonly read: string;
  readonly column: string;
  /** The type of the value in a list of rows in JSON. */
  readonly type: string;
  /** What is written, if it is not that value itself. */
  readonly write?: string;
}

export interface CopiedTable {
  readonly table: string;
  /**
   * What is read, if it is not the table itself. It may begin after the key in `after`, and contain at most `limit`
   * rows; both are SQL.
   */
  readonly from?: (after: readonly string[], limit: string) => string;
  readonly key: readonly string[];
  /** Columns of the key that is unique in the table, if these differ from what is read. */
  readonly unique?: readonly string[];
  readonly fields: readonly Field[];
  /** SQL for the number of characters of a row's long columns. */
  readonly size: string;
}

const field = (type: string) => (name: string, column: string) => ({ name, read: column, column, type });
const text = field("text");
const number = field("bigint");
const time = field("double precision");
const flag = field("boolean");
const texts = field("text[]");
/** JSON that is stored as a text and copied as that text. */
const jsonText = (name: string, column: string): Field => ({
  ...{ name, read: `${column}::text`, column, type: "text", write: `t."${name}"::json` },
});
const json = (type: "json" | "jsonb") => field(type);
/** A field that is only written. */
const derived = (name: string, type: string, write?: string): Field => ({
  ...{ name, read: "NULL", column: name, type },
  ...(write === undefined ? {} : { write }),
});

/** A number in the table, a word in the copy. */
function words(name: string, column: string, numbers: Readonly<Record<string, number>>, others: string): Field {
  const entries = Object.entries(numbers);
  return {
    ...{ name, column, type: "text" },
    read:
      `CASE ${column} ${entries.map(([word, value]) => `WHEN ${value} THEN '${word}'`).join(" ")} ELSE ` +
      `'${others}' END`,
    write: `CASE t."${name}" ${entries.map(([word, value]) => `WHEN '${word}' THEN ${value}`).join(" ")} END`,
  };
}

const outcomes = Object.entries(outcomeStates);
const counterRead = outcomes.map(([outcome, state]) => `WHEN 'removed:${state}' THEN 'removed:${outcome}'`).join(" ");
const counterWrite = outcomes.map(([outcome, state]) => `WHEN 'removed:${outcome}' THEN 'removed:${state}'`).join(" ");
const dedupeMs = 7 * 24 * 3_600_000;

export const copiedTables: Readonly<Record<CopyKind, CopiedTable>> = {
  counter: {
    table: "counters",
    from: () => `(SELECT CASE name ${counterRead} ELSE name END AS name, value FROM @counters WHERE value > 0)`,
    key: ["name"],
    fields: [
      { ...text("name", "name"), write: `CASE t.name ${counterWrite} ELSE t.name END` },
      number("value", "value"),
    ],
    size: "0",
  },
  event: {
    table: "inbox",
    key: ["sequence"],
    fields: [
      number("sequence", "sequence"),
      text("id", "id"),
      words("state", "state", { waiting: 2, ...outcomeStates }, "waiting"),
      number("attempts", "attempts"),
      number("replays", "replays"),
      number("unit", "unit"),
      time("acceptedAt", "accepted_at"),
      time("due", "due"),
      text("source", "source"),
      text("kind", "kind"),
      text("account", "account"),
      text("lane", "lane"),
      text("authority", "authority"),
      text("gatherKey", "gather_key"),
      flag("extend", "extend"),
      text("dedupeKey", "dedupe_key"),
      derived("characters", "integer"),
      jsonText("body", "body"),
    ],
    size: "length(body::text)",
  },
  dedupe: {
    table: "dedupe",
    key: ["key"],
    fields: [
      text("key", "key"),
      text("eventId", "event_id"),
      text("fingerprint", "fingerprint"),
      time("until", "until"),
      derived("at", "double precision", `t.until - ${dedupeMs}`),
    ],
    size: "0",
  },
  unit: {
    table: "units",
    key: ["id"],
    fields: [
      number("id", "id"),
      text("eventId", "event_id"),
      text("lane", "lane"),
      words("state", "state", { waiting: 0, settled: 2 }, "waiting"),
      text("stage", "stage"),
      time("notBefore", "not_before"),
      jsonText("preview", "preview"),
      jsonText("ending", "ending"),
      text("outcome", "outcome"),
      text("reason", "reason"),
      time("settledAt", "settled_at"),
      text("sessionKey", "session_key"),
      text("agentId", "agent_id"),
      text("reply", "reply"),
    ],
    size: "coalesce(length(reply), 0) + coalesce(length(ending::text), 0)",
  },
  decision: {
    table: "decisions",
    key: ["id"],
    fields: [
      number("id", "id"),
      number("unit", "unit"),
      {
        ...json("json")("entries", "entries"),
        read: String.raw`regexp_replace(entries::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json`,
      },
      derived("senders", "text[]"),
    ],
    size: "length(entries::text)",
  },
  outbox: {
    table: "outbox",
    key: ["id"],
    fields: [
      number("id", "id"),
      number("unit", "unit"),
      text("unitId", "unit_id"),
      number("index", "position"),
      text("channel", "channel"),
      text("account", "account"),
      text("chat", "chat"),
      text("thread", "thread"),
      text("operation", "operation"),
      jsonText("part", "part"),
      words("state", "state", { waiting: 0, sending: 1, sent: 2, failed: 3 }, "waiting"),
      number("attempts", "attempts"),
      number("doubts", "doubts"),
      time("sendingSince", "sending_since"),
      texts("messageIds", "message_ids"),
      time("endedAt", "ended_at"),
      text("reason", "reason"),
    ],
    size: "length(part::text)",
  },
  sent: {
    table: "sent",
    key: ["message_id", "chat", "account", "channel"],
    fields: [
      text("messageId", "message_id"),
      text("chat", "chat"),
      text("account", "account"),
      text("channel", "channel"),
      text("thread", "thread"),
      text("unitId", "unit_id"),
      time("at", "at"),
    ],
    size: "0",
  },
  session: {
    table: "sessions",
    key: ["key"],
    fields: [
      text("key", "key"),
      text("agentId", "agent_id"),
      number("generation", "generation"),
      json("jsonb")("lastRecipient", "last_recipient"),
      json("jsonb")("settings", "settings"),
      time("updatedAt", "updated_at"),
    ],
    size: "length(settings::text)",
  },
  transcript: {
    table: "transcripts",
    key: ["id"],
    fields: [number("id", "id"), text("sessionKey", "session_key"), number("generation", "generation")],
    size: "0",
  },
  // `place` counts the messages of a transcript from 1. It is part of the key, so that no page counts those of earlier
  // pages again.
  message: {
    table: "messages",
    // Older servers, such as 15, need the inner limit: otherwise they would number all remaining messages.
    from: (
      [transcript, position, place],
      limit,
    ) => `(SELECT *, row_number() OVER (PARTITION BY transcript ORDER BY position)
        + CASE WHEN transcript = ${transcript} THEN ${place} ELSE 0 END AS place
      FROM (SELECT * FROM @messages WHERE (transcript, position) > (${transcript}, ${position}) ORDER BY transcript,
        position LIMIT ${limit}) page)`,
    key: ["transcript", "position", "place"],
    unique: ["id"],
    fields: [
      number("id", "id"),
      number("transcript", "transcript"),
      { ...number("place", "position"), read: "place" },
      text("unitId", "unit_id"),
      text("role", "role"),
      time("at", "at"),
      text("content", "content"),
    ],
    size: "length(content)",
  },
  summary: {
    table: "summaries",
    // A message is named by its id, because the copy has other positions.
    from: () => `(SELECT s.*, (SELECT m.id FROM @messages m WHERE m.transcript = s.transcript AND m.position <= s.until
      ORDER BY m.position DESC LIMIT 1) AS message FROM @summaries s)`,
    key: ["id"],
    fields: [
      number("id", "id"),
      number("transcript", "transcript"),
      {
        ...number("until", "until"),
        read: "message",
        write: `(SELECT m.position FROM @messages m WHERE m.id = t."until")`,
      },
      number("messages", "messages"),
      text("model", "model"),
      time("at", "at"),
      text("text", "content"),
    ],
    size: "length(content)",
  },
  modelCall: {
    table: "model_calls",
    key: ["id"],
    fields: [
      text("id", "id"),
      time("at", "at"),
      text("agentId", "agent_id"),
      text("model", "model"),
      text("purpose", "purpose"),
      text("sessionKey", "session_key"),
      text("channel", "channel"),
      text("account", "account"),
      text("sender", "sender"),
      text("eventId", "event_id"),
      number("inputTokens", "input_tokens"),
      number("outputTokens", "output_tokens"),
      number("cacheRead", "cache_read"),
      number("cacheWrite", "cache_write"),
      number("reasoning", "reasoning"),
      time("usd", "usd"),
      text("priceSource", "price_source"),
      flag("estimated", "estimated"),
    ],
    size: "0",
  },
  keyValue: {
    table: "kv",
    from: () => `(SELECT * FROM @kv WHERE namespace <> '${copyNamespace}')`,
    key: ["namespace", "key"],
    fields: [
      text("namespace", "namespace"),
      text("key", "key"),
      text("value", "value"),
      time("expiresAt", "expires_at"),
    ],
    size: "length(value)",
  },
};
