/**
 * The minimum work of a durable hook: fastify, a constant-time check of the token, the rows that a gateway writes,
 * SQLite with `synchronous=FULL`, and one flush for all waiting requests. The session's queue is bounded as specified:
 * events beyond the newest thousand are dropped, a hundred at a time. `node bench/durable-reference.ts DIRECTORY
 * TOKEN`. Prints `ready <address>`.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fastify from "fastify";
import { createIds } from "../core/state/ids.ts";
import { migrate } from "../core/state/sqlite/database/migrations.ts";
import { eventState, unitState } from "../core/state/sqlite/database/schema.ts";

const [directory = "", token = ""] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
const db = new DatabaseSync(join(directory, "state.db"));
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
migrate(db, directory);
const insert = db.prepare(
  `INSERT INTO inbox (id, state, attempts, accepted_at, source, kind, lane, authority, gather_key, extend, body)
   VALUES (?, ${eventState.waiting}, 0, ?, 'hooks', 'wake', 'agent:main:main', 'hook',
     'heartbeat:agent:main:main', 0, ?)`,
);
const insertUnit = db.prepare(
  `INSERT INTO units (event_id, lane, state, outcome, reason, settled_at)
   VALUES (?, 'agent:main:main', ${unitState.settled}, 'silent', 'left_out', ?)`,
);
const insertDecisions = db.prepare("INSERT INTO decisions (unit, entries) VALUES (?, ?)");
const endOldest = db.prepare(`UPDATE inbox SET state = ${eventState.silent}, unit = ? WHERE sequence BETWEEN ? AND ?`);
const maxWaiting = 1_000;
const leftOutAtOnce = 100;
const newId = createIds(Date.now);
const digest = (text: string) => createHash("sha256").update(text).digest();
const right = digest(`Bearer ${token}`);

interface Waiting {
  readonly id: string;
  readonly body: string;
  readonly resolve: (id: string) => void;
}

let waiting: Waiting[] = [];
let oldest = 1;

/** Ends the oldest events of a full queue. */
function leaveOut(id: string): void {
  const unit = insertUnit.run(id, Date.now()).lastInsertRowid;
  insertDecisions.run(unit, JSON.stringify([{ at: Date.now(), verdict: "silent", code: "left_out" }]));
  endOldest.run(unit, oldest, oldest + leftOutAtOnce - 1);
  oldest += leftOutAtOnce;
}

/** One transaction for everything that arrived while the last one was written. */
function flush(): void {
  const taken = waiting;
  waiting = [];
  db.exec("BEGIN");
  for (const { id, body } of taken) {
    const newest = Number(insert.run(id, Date.now(), body).lastInsertRowid);
    if (newest - oldest >= maxWaiting) leaveOut(id);
  }
  db.exec("COMMIT");
  for (const { id, resolve } of taken) resolve(id);
}

function store(body: object): Promise<string> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ id: newId(), body: JSON.stringify(body), resolve });
  });
}

const app = fastify({ logger: false });
app.addHook("onRequest", (request, reply, next) => {
  if (timingSafeEqual(digest(request.headers.authorization ?? ""), right)) next();
  else void reply.code(401).send({ ok: false });
});
interface Payload {
  readonly text: string;
  readonly mode: string;
  readonly note?: string;
}
app.post<{ Body: Payload }>("/hooks/wake", async ({ body }) => {
  const eventId = await store({ text: body.text, mode: body.mode });
  return { ok: true, mode: body.mode, eventId };
});
app.post<{ Body: Payload }>("/hooks/template", async ({ body, headers }) => {
  const { authorization: _, ...shown } = headers;
  const text = `${body.text}: ${body.note ?? ""}`;
  const delivery = {
    path: "template",
    headers: shown,
    query: {},
    payload: body,
    source: "",
    now: new Date().toISOString(),
  };
  const eventId = await store({ text, mode: "next-heartbeat", mapping: "template", delivery });
  return { ok: true, mode: "next-heartbeat", eventId };
});
await app.listen({ host: "127.0.0.1", port: 0 });
process.once("SIGTERM", () => process.exit());
console.log(`ready http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
