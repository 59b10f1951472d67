/** Brings a database to the present tables. Each migration is applied once, in order. */
import type { DatabaseSync } from "node:sqlite";
import { HostError } from "../../../contract/index.ts";
import { schema } from "./schema.ts";

/** Finds the events that a lane passed over, for the turn that mentions them. */
const silentEvents = "CREATE INDEX inbox_silent ON inbox (lane, sequence) WHERE state = 5;";

/**
 * Messages sent at about the same time have similar ids, but their chats differ. With the id first, the rows of one
 * commit share a few pages instead of needing one for each chat.
 */
const sentById = `
CREATE TABLE sent_by_id (
  message_id TEXT NOT NULL,
  chat TEXT NOT NULL,
  account TEXT NOT NULL,
  channel TEXT NOT NULL,
  thread TEXT,
  unit_id TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (message_id, chat, account, channel)
) STRICT, WITHOUT ROWID;
INSERT INTO sent_by_id (message_id, chat, account, channel, thread, unit_id, at)
  SELECT message_id, chat, account, channel, thread, unit_id, at FROM sent;
DROP TABLE sent;
ALTER TABLE sent_by_id RENAME TO sent;
CREATE INDEX sent_at ON sent (at);
`;

/**
 * The column used to say whether a part may have been sent twice. It now says how many times too often it may have been
 * sent.
 */
const countedDoubts = "ALTER TABLE outbox RENAME COLUMN possibly_repeated TO doubts;";

/** A JSON list if a part became several messages; `message_id` is the first of them. */
const allMessages = "ALTER TABLE outbox ADD COLUMN message_ids TEXT;";

/**
 * A generation of a session refers to its newest message, and each message to the previous one. An index would need a
 * page for each session that a commit writes to. An event itself shows whether it was replayed; only then are its
 * earlier messages searched for.
 */
const chainedTranscripts = `
CREATE TABLE transcripts (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  generation INTEGER NOT NULL,
  newest INTEGER,
  messages INTEGER NOT NULL
) STRICT;
INSERT INTO transcripts (session_key, generation, newest, messages)
  SELECT session_key, generation, max(id), count(*) FROM messages GROUP BY session_key, generation;
CREATE UNIQUE INDEX transcripts_session ON transcripts (session_key, generation);
CREATE TABLE chained_messages (
  id INTEGER PRIMARY KEY,
  previous INTEGER,
  unit_id TEXT,
  role TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL
) STRICT;
INSERT INTO chained_messages (id, previous, unit_id, role, at, content)
  SELECT id, lag(id) OVER (PARTITION BY session_key, generation ORDER BY id), unit_id, role, at, content
    FROM messages ORDER BY id;
DROP TABLE messages;
ALTER TABLE chained_messages RENAME TO messages;
ALTER TABLE inbox ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
`;

/** The ledger of model calls. What turns reported before is in their decisions, for as long as these are stored. */
const modelCalls = `
CREATE TABLE model_calls (
  id TEXT PRIMARY KEY,
  at REAL NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  session_key TEXT,
  channel TEXT,
  account TEXT,
  sender TEXT,
  event_id TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  usd REAL,
  price_source TEXT,
  estimated INTEGER NOT NULL
) STRICT;
CREATE INDEX model_calls_at ON model_calls (at, agent_id, channel, sender, estimated, input_tokens, output_tokens, usd);
INSERT INTO model_calls (id, at, agent_id, model, purpose, session_key, event_id, input_tokens, output_tokens,
  cache_read, cache_write,
    reasoning, estimated)
  SELECT d.id || ':' || e.key || ':' || m.key, json_extract(e.value, '$[0]'), coalesce(u.agent_id, ''),
    json_extract(m.value, '$[2]'), 'turn',
    u.session_key, u.event_id, CAST(json_extract(m.value, '$[0]') AS INTEGER), CAST(json_extract(m.value, '$[1]')
      AS INTEGER), 0, 0, 0, 0
  FROM decisions d JOIN units u ON u.id = d.unit, json_each(d.entries) e, json_each(e.value, '$[9]') m
  WHERE e.type = 'array';
`;

/** What models read in place of the older part of a conversation. */
const summaries = `
CREATE TABLE summaries (
  id INTEGER PRIMARY KEY,
  transcript INTEGER NOT NULL,
  until INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  model TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX summaries_transcript ON summaries (transcript, id);
`;

/** The beginning of the first attempt to send a part that is not known to have had no effect. */
const timedSends = "ALTER TABLE outbox ADD COLUMN sending_since REAL;";

/** From the first version to the second, and so on. */
const migrations: readonly string[] = [
  silentEvents,
  sentById,
  countedDoubts,
  allMessages,
  chainedTranscripts,
  modelCalls,
  summaries,
  timedSends,
];

/** The schema version that this program writes. */
export const knownVersion = migrations.length + 1;

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}

/**
 * Gives a new database its tables, and brings those of an earlier version up to date. In one transaction, because
 * another process may be doing the same.
 */
export function migrate(db: DatabaseSync, directory: string): void {
  if (versionOf(db) === knownVersion) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = versionOf(db);
    if (found > knownVersion) throw new HostError("state_version", { directory, found, known: knownVersion });
    // To go through all earlier versions would take three times as long.
    for (const statements of found === 0 ? [schema] : migrations.slice(found - 1)) db.exec(statements);
    db.exec(`PRAGMA user_version = ${knownVersion}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
