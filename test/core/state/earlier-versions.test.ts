import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { migrate } from "../../../core/state/sqlite/database/migrations.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { firstVersion } from "./first-version.ts";

/** The tables, columns and indexes of a database, whatever the quotes and white space with which they were declared. */
function structureOf(db: DatabaseSync): readonly string[] {
  const declared = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").all();
  return declared.map(({ sql }) =>
    String(sql)
      .replaceAll('"', "")
      .replace(/\s*([(),])\s*|\s+/g, (_, mark: string | undefined) => mark ?? " "),
  );
}

test("a version 1 database is upgraded with the tables of a new one", () => {
  const [earlier, present] = [new DatabaseSync(":memory:"), new DatabaseSync(":memory:")];
  earlier.exec(firstVersion);
  for (const db of [earlier, present]) migrate(db, "unused");
  expect(structureOf(present).length).toBeGreaterThan(20);
  expect(structureOf(earlier)).toEqual(structureOf(present));
});

/** Undoes what the last migrations did: the state as a version before them kept it. */
const asBefore = `
DROP TABLE summaries;
ALTER TABLE outbox DROP COLUMN sending_since;
DROP TABLE model_calls;
DROP TABLE messages;
DROP TABLE transcripts;
ALTER TABLE inbox DROP COLUMN replays;
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
INSERT INTO messages (session_key, generation, unit_id, role, at, content) VALUES
  ('a', 0, 'u1', 'user', 1, '"first"'), ('b', 0, 'u2', 'user', 2, '"other"'), ('a', 0, 'u1', 'assistant', 3,
  '"answer"'),
  ('a', 1, 'u3', 'user', 4, '"after the reset"'), ('a', 0, NULL, 'user', 5, '"late"'), ('b', 0, 'u2', 'assistant', 6,
  '{"parts":[1]}');
INSERT INTO sessions (key, agent_id, generation, settings, updated_at) VALUES ('a', 'main', 1, '{}', 4);
INSERT INTO inbox (id, state, attempts, unit, accepted_at, due, source, kind, lane, authority, extend, body)
  VALUES ('u3', 6, 1, 1, 4, 0, 's', 'k', 'l', 'channel', 0, '1');
INSERT INTO units (id, event_id, lane, state, outcome, reason, settled_at) VALUES (1, 'u3', 'l', 2, 'refused',
  'sender_not_allowed', 5);
INSERT INTO decisions (unit, entries) VALUES
  (1, '[{"at":4,"station":"gating","plugin":"core","verdict":"refused","code":"sender_not_allowed","hint":"Approve."}]'),
  (1, '[[7,"turn","ai","pass","done",null,null,null,null,[[30,4,"local/small"],[1,2,"local/big"]]],[8,"turn","ai","pass","done"]]');
PRAGMA user_version = 5;
`;

test("an upgrade from the previous version keeps transcripts and decisions", async () => {
  const directory = mkdtempSync(join(tmpdir(), "state-"));
  const open = () => openSqliteStore({ directory, now: () => 9 });
  await (await open()).close();
  const db = new DatabaseSync(join(directory, "state.db"));
  db.exec(asBefore);
  db.close();
  const store = await open();
  const said = async (key: string, options?: { readonly generation?: number; readonly userTurns?: number }) =>
    (await store.transcript(key, options)).map(({ content }) => content);
  expect(await said("a")).toEqual(["after the reset"]);
  expect(await said("a", { generation: 0 })).toEqual(["first", "answer", "late"]);
  expect(await said("a", { generation: 0, userTurns: 1 })).toEqual(["late"]);
  expect(await said("b")).toEqual(["other", { parts: [1] }]);
  expect(await store.sessionReports({ limit: 9 })).toMatchObject([
    { key: "b", messages: 2, updatedAt: 6 },
    { key: "a", generation: 1, messages: 1, updatedAt: 4 },
  ]);
  expect((await store.event("u3"))?.decisions).toMatchObject([
    { at: 4, station: "gating", plugin: "core", verdict: "refused", code: "sender_not_allowed", hint: "Approve." },
    { at: 7, usage: [{ inputTokens: 30 }, {}] },
    { at: 8 },
  ]);
  expect(await store.usage({ since: 7 })).toMatchObject([
    { model: "local/small", calls: 1, inputTokens: 30, outputTokens: 4, usd: 0, unpriced: { calls: 1 } },
    { model: "local/big", calls: 1 },
  ]);
  await store.close();
});

test("after an upgrade, any next turn of a session reads the events that were waiting for it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "state-"));
  const open = () => openSqliteStore({ directory, now: () => 9 });
  await (await open()).close();
  const db = new DatabaseSync(join(directory, "state.db"));
  // One that waits for a heartbeat, one that asked for it, one whose heartbeat ran when the process ended, a message
  // beside them.
  db.exec(`
    DROP TABLE summaries;
    ALTER TABLE outbox DROP COLUMN sending_since;
    DROP TABLE model_calls;
    INSERT INTO inbox (id, state, attempts, unit, accepted_at, due, source, kind, lane, authority, gather_key,
      extend, body) VALUES
      ('later', 2, 0, NULL, 1, NULL, 'hooks', 'wake', 'agent:main:main', 'hook', 'heartbeat:agent:main:main', 0,
      '{"text":"a"}'),
      ('running', 3, 1, 7, 2, 2, 'hooks', 'wake', 'agent:main:main', 'hook', 'heartbeat:agent:main:main', 0,
      '{"text":"b"}'),
      ('now', 2, 0, NULL, 3, 253, 'hooks', 'wake', 'agent:main:main', 'hook', 'heartbeat:agent:main:main', 0,
      '{"text":"c"}'),
      ('hello', 2, 0, NULL, 4, 0, 'irc', 'update', 'irc:default:7', 'channel', NULL, 0, '{"text":"d"}');
    INSERT INTO units (id, event_id, lane, state) VALUES (7, 'running', 'agent:main:main', 1);
    INSERT INTO numbers (name, value) VALUES ('waiting', 3), ('running', 1);
    PRAGMA user_version = 6;
  `);
  db.close();
  const store = await open();
  await store.begin(9);
  await store.claim("irc:default:7", { now: 9, limit: 10 });
  const queue = { lane: "agent:main:main", key: "heartbeat:agent:main:main" };
  expect((await store.takeQueued("hello", { queue, now: 9 })).map(({ id }) => id)).toEqual(["later", "running", "now"]);
  await store.settle({ unitId: "hello", outcome: "answered", reason: "sent", at: 9, decisions: [] });
  expect(await store.event("running")).toMatchObject({ outcome: "answered" });
  expect(await store.stats()).toMatchObject({ waiting: 0, running: 0, settled: { answered: 4 } });
  await store.close();
});

test("a conversation of a version without summaries goes on, and can be summarized", async () => {
  const directory = mkdtempSync(join(tmpdir(), "state-"));
  const open = () => openSqliteStore({ directory, now: () => 9 });
  await (await open()).close();
  const db = new DatabaseSync(join(directory, "state.db"));
  db.exec(`
    DROP TABLE summaries;
    ALTER TABLE outbox DROP COLUMN sending_since;
    INSERT INTO messages (id, previous, unit_id, role, at, content) VALUES
      (1, NULL, 'u1', 'user', 1, '"first"'), (2, 1, 'u1', 'assistant', 2, '"answer"'), (3, 2, 'u2', 'user', 3, '"next"');
    INSERT INTO transcripts (session_key, generation, newest, messages) VALUES ('a', 0, 3, 3);
    PRAGMA user_version = 7;
  `);
  db.close();
  const store = await open();
  expect(await store.conversation("a")).toMatchObject({ summary: null, messages: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  const more = { generation: 0, after: null, messages: 2, model: "a/b", at: 9 };
  expect(await store.addSummary("a", { ...more, until: 2, text: "the first turn" })).toBe(true);
  expect(await store.conversation("a")).toMatchObject({ summary: { text: "the first turn" }, messages: [{ id: 3 }] });
  await store.close();
});
