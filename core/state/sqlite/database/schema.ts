/** The tables and their migrations. Each migration is applied once, in order; its index in the list is the version. */
import type { DatabaseSync } from "node:sqlite";
import { HostError } from "../../../contract/index.ts";

/**
 * Values of `inbox.state`. All are one-byte integers, so that a change of state keeps the size of the row, and SQLite does not rewrite the
 * pages of a large body.
 */
export const eventState = { waiting: 2, running: 3, answered: 4, silent: 5, refused: 6, failed: 7 } as const;

/** Values of `units.state`: handed back, running, settled. */
export const unitState = { waiting: 0, running: 1, settled: 2 } as const;

/** Values of `outbox.state`, by index. */
export const outboxStates = ["waiting", "sending", "sent", "failed"] as const;

/** Times are REAL, because a caller's wait may be fractional or infinite. SQLite stores whole numbers as integers. */
const foundation = `
CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  unit INTEGER,
  accepted_at REAL NOT NULL,
  due REAL,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  account TEXT,
  lane TEXT NOT NULL,
  authority TEXT NOT NULL,
  gather_key TEXT,
  extend INTEGER NOT NULL,
  dedupe_key TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_heads ON inbox (lane, sequence) WHERE state = 2 AND due IS NOT NULL;
CREATE INDEX inbox_gathered ON inbox (lane, gather_key, (due IS NULL), sequence) WHERE state = 2 AND gather_key IS NOT NULL;
CREATE INDEX inbox_unit ON inbox (unit) WHERE unit IS NOT NULL;
CREATE INDEX inbox_ends ON inbox (state, sequence) WHERE state >= 4;

CREATE TABLE dedupe (
  key TEXT PRIMARY KEY,
  event_id TEXT NOT NULL,
  fingerprint TEXT,
  until REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX dedupe_until ON dedupe (until);

CREATE TABLE units (
  id INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  lane TEXT NOT NULL,
  state INTEGER NOT NULL,
  stage TEXT NOT NULL DEFAULT 'turn',
  not_before REAL NOT NULL DEFAULT 0,
  previews TEXT,
  ending TEXT,
  outcome TEXT,
  reason TEXT,
  settled_at REAL,
  session_key TEXT,
  agent_id TEXT,
  reply TEXT
) STRICT;
CREATE UNIQUE INDEX units_running ON units (lane) WHERE state = 1;

CREATE TABLE decisions (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, entries TEXT NOT NULL) STRICT;
CREATE INDEX decisions_unit ON decisions (unit);

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  unit INTEGER NOT NULL,
  unit_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  address TEXT NOT NULL,
  operation TEXT NOT NULL,
  part TEXT NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  possibly_repeated INTEGER NOT NULL DEFAULT 0,
  message_id TEXT,
  ended_at REAL,
  reason TEXT
) STRICT;
CREATE INDEX outbox_unit ON outbox (unit, position);

CREATE TABLE sent (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  thread TEXT,
  unit_id TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (channel, account, chat, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_at ON sent (at);

CREATE TABLE sessions (
  key TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  last_recipient TEXT,
  settings TEXT NOT NULL,
  updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_updated ON sessions (updated_at);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  generation INTEGER NOT NULL,
  unit_id TEXT,
  role TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX messages_session ON messages (session_key, generation, id, role);
CREATE INDEX messages_unit ON messages (unit_id) WHERE unit_id IS NOT NULL;

CREATE TABLE kv (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at REAL,
  PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX kv_expires ON kv (expires_at) WHERE expires_at IS NOT NULL;
`;

/** Finds the events that a lane passed over, for the turn that mentions them. */
const silentEvents = "CREATE INDEX inbox_silent ON inbox (lane, sequence) WHERE state = 5;";

/**
 * Messages sent at about the same time have similar ids, but their chats differ. With the id first, the rows of one commit share a few
 * pages instead of needing one for each chat.
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

/** The column used to say whether a part may have been sent twice. It now says how many times too often it may have been sent. */
const countedDoubts = "ALTER TABLE outbox RENAME COLUMN possibly_repeated TO doubts;";

/** A JSON list if a part became several messages; `message_id` is the first of them. */
const allMessages = "ALTER TABLE outbox ADD COLUMN message_ids TEXT;";

/**
 * A generation of a session refers to its newest message, and each message to the previous one. An index would need a page for each session
 * that a commit writes to. An event itself shows whether it was replayed; only then are its earlier messages searched for.
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
  SELECT id, lag(id) OVER (PARTITION BY session_key, generation ORDER BY id), unit_id, role, at, content FROM messages ORDER BY id;
DROP TABLE messages;
ALTER TABLE chained_messages RENAME TO messages;
ALTER TABLE inbox ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
`;

const migrations: readonly string[] = [foundation, silentEvents, sentById, countedDoubts, allMessages, chainedTranscripts];

/** The schema version that this program writes. */
export const knownVersion = migrations.length;

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}

/** Brings the schema up to date in one transaction, because another process may be doing the same. */
export function migrate(db: DatabaseSync, directory: string): void {
  if (versionOf(db) === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = versionOf(db);
    if (found > migrations.length) throw new HostError("state_version", { directory, found, known: migrations.length });
    for (const migration of migrations.slice(found)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
