/**
 * The tables of a new database, and the values of their state columns. A change here needs a migration in
 * `migrations.ts`, too.
 */

/**
 * Values of `inbox.state`. All are one-byte integers, so that a change of state keeps the size of the row, and SQLite
 * does not rewrite the pages of a large body.
 */
export const eventState = { waiting: 2, running: 3, answered: 4, silent: 5, refused: 6, failed: 7 } as const;

/** Values of `units.state`: handed back, running, settled. */
export const unitState = { waiting: 0, running: 1, settled: 2 } as const;

/** Values of `outbox.state`, by index. */
export const outboxStates = ["waiting", "sending", "sent", "failed"] as const;

/**
 * Times are REAL, because a caller's wait may be fractional or infinite; SQLite stores whole numbers as integers.
 *
 * `inbox_silent` finds the events that a lane passed over, for the turn that mentions them.
 *
 * Messages sent at about the same time have similar ids, but their chats differ. With the id first in the key of
 * `sent`, the rows of one commit share a few pages instead of needing one for each chat.
 *
 * `outbox.doubts` says how many times too often a part may have been sent. `outbox.message_ids` is a JSON list if a
 * part became several messages; `message_id` is the first of them. `outbox.sending_since` is the beginning of the first
 * attempt that is not known to have had no effect.
 *
 * A generation of a session in `transcripts` refers to its newest message, and each message to the previous one. An
 * index would need a page for each session that a commit writes to. `inbox.replays` shows whether an event was
 * replayed; only then are its earlier messages searched for.
 *
 * A summary covers the messages of its transcript up to `until`.
 *
 * `model_calls_at` contains what budgets sum, so that a sum does not read the table.
 */
export const schema = `
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
  body TEXT NOT NULL,
  replays INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX inbox_heads ON inbox (lane, sequence) WHERE state = 2 AND due IS NOT NULL;
CREATE INDEX inbox_gathered ON inbox (lane, gather_key, (due IS NULL), sequence) WHERE state = 2
  AND gather_key IS NOT NULL;
CREATE INDEX inbox_unit ON inbox (unit) WHERE unit IS NOT NULL;
CREATE INDEX inbox_ends ON inbox (state, sequence) WHERE state >= 4;
CREATE INDEX inbox_silent ON inbox (lane, sequence) WHERE state = 5;

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
  doubts INTEGER NOT NULL DEFAULT 0,
  message_id TEXT,
  ended_at REAL,
  reason TEXT,
  message_ids TEXT,
  sending_since REAL
) STRICT;
CREATE INDEX outbox_unit ON outbox (unit, position);

CREATE TABLE sent (
  message_id TEXT NOT NULL,
  chat TEXT NOT NULL,
  account TEXT NOT NULL,
  channel TEXT NOT NULL,
  thread TEXT,
  unit_id TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (message_id, chat, account, channel)
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

CREATE TABLE transcripts (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  generation INTEGER NOT NULL,
  newest INTEGER,
  messages INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX transcripts_session ON transcripts (session_key, generation);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  previous INTEGER,
  unit_id TEXT,
  role TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL
) STRICT;

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

CREATE TABLE kv (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at REAL,
  PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX kv_expires ON kv (expires_at) WHERE expires_at IS NOT NULL;

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
`;
