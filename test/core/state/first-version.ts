/** The tables of the first version of the embedded store. */
export const firstVersion = `
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
CREATE INDEX inbox_gathered ON inbox (lane, gather_key, (due IS NULL), sequence) WHERE state = 2
  AND gather_key IS NOT NULL;
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
PRAGMA user_version = 1;
`;
