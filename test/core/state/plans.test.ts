import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, test } from "vitest";
import { migrate } from "../../../core/state/sqlite/database/migrations.ts";
import { createStatements, type Statements } from "../../../core/state/sqlite/database/statements.ts";
import { createWriteContext } from "../../../core/state/sqlite/database/writer-database.ts";
import { packEvent } from "../../../core/state/sqlite/events/acceptance.ts";
import { eventQueueReads } from "../../../core/state/sqlite/events/event-queue.ts";
import { inboxReads } from "../../../core/state/sqlite/events/inbox.ts";
import { outboxReads, packSaying } from "../../../core/state/sqlite/events/outbox.ts";
import { packSettlement } from "../../../core/state/sqlite/events/settlement.ts";
import { decisionReads } from "../../../core/state/sqlite/records/decisions.ts";
import { keyValueReads } from "../../../core/state/sqlite/records/key-value.ts";
import { packSent } from "../../../core/state/sqlite/records/sent.ts";
import { sessionReads } from "../../../core/state/sqlite/records/sessions.ts";
import { transcriptReads } from "../../../core/state/sqlite/records/transcripts.ts";
import { createOperations } from "../../../core/state/sqlite/thread/protocol.ts";

/**
 * Lanes that wait, units that run, sessions up to a limit, messages of one transcript: as many as the answer has.
 * Dedupe keys: up to their limit, once a prune.
 */
const bounded = /dedupe_until|inbox_heads|units_running|sessions_updated|^SCAN \(subquery|^SCAN chain$/;

/** Statements that remember their texts. */
function createRecorder(db: DatabaseSync): { sql: Statements; texts: Set<string> } {
  const inner = createStatements(db);
  const texts = new Set<string>();
  const noted = (text: string) => {
    texts.add(text);
    return text;
  };
  const sql: Statements = {
    writes: () => inner.writes(),
    one: <Row>(text: string, ...values: readonly SQLInputValue[]) => inner.one<Row>(noted(text), ...values),
    all: <Row>(text: string, ...values: readonly SQLInputValue[]) => inner.all<Row>(noted(text), ...values),
    oneList: <Row extends readonly unknown[]>(text: string, ...values: readonly SQLInputValue[]) =>
      inner.oneList<Row>(noted(text), ...values),
    allLists: <Row extends readonly unknown[]>(text: string, ...values: readonly SQLInputValue[]) =>
      inner.allLists<Row>(noted(text), ...values),
    run: (text, ...values) => inner.run(noted(text), ...values),
    insert: (text, ...values) => inner.insert(noted(text), ...values),
  };
  return { sql, texts };
}

function useEverything(sql: Statements): void {
  const context = createWriteContext(sql);
  const operations = createOperations(context);
  const unit = { unitId: "a", decisions: "[]" };
  const accept = (id: string, lane: string, due: number | null) =>
    operations.accept(
      packEvent({
        id,
        at: 1,
        event: { source: "s", kind: "k", lane, authority: "hook", dedupeKey: id, gather: { key: "g", due }, body: 1 },
      }),
    );
  const claim = () => operations.claim(["l", 100, 10]);
  const ending = { outcome: "answered", reason: "sent", sessionKey: "s", agentId: "main" } as const;
  operations.begin();
  accept("a", "l", 1);
  accept("b", "l", null);
  claim();
  operations.handBack({ ...unit, due: 0, uncount: false });
  claim();
  operations.begin();
  claim();
  operations.setPreview({ unitId: "a", preview: "{}" });
  const queue = { lane: "q", key: "heartbeat:q" };
  const event = {
    source: "s",
    kind: "k",
    lane: queue.lane,
    authority: "hook",
    gather: { key: queue.key, due: null },
    body: { text: "x" },
  } as const;
  operations.accept(packEvent({ id: "queued", at: 1, event }));
  eventQueueReads(sql).queueWaits(queue);
  operations.takeQueued({ unitId: "a", queue, now: 5 });
  const address = { channel: "c", account: "d", chat: "1" };
  const rows = [1, 2, 3].map(
    () => ({ address, operation: "send", part: { kind: "text", chars: 5, body: "hello" } }) as const,
  );
  const messages = [{ role: "user", content: "hi", at: 1 }] as const;
  operations.say(
    packSaying(
      { unitId: "a", at: 1, rows, ending, transcript: { sessionKey: "s", messages }, decisions: [], tookQueued: true },
      1,
    ),
  );
  operations.handBack({ ...unit, due: 0, uncount: true });
  claim();
  operations.sent({ sent: packSent(1, { messageId: "m" }, 1), next: 2 });
  operations.notSent({ rowId: 2 });
  operations.sending({ rowId: 2, at: 1 });
  operations.doubted({ rowId: 2, decisions: "[]" });
  operations.unsendable({ rowId: 2, at: 1, reason: "r" });
  operations.settle(
    packSettlement({ ...ending, unread: true, unitId: "a", at: 1, decisions: [] }, { row: null, allSent: false }),
  );
  operations.replay({ eventId: "a", now: 1 });
  operations.updateSession({
    key: "s",
    agentId: "main",
    at: 1,
    settings: null,
    lastRecipient: null,
    newGeneration: false,
  });
  operations.set({ namespace: "n", key: "k", value: "1", expiresAt: 1 });
  operations.swap({ namespace: "n", key: "k", expected: null, next: "2", expiresAt: undefined, now: 5 });
  operations.delete({ namespace: "n", key: "k", now: 5 });
  const now = () => 5;
  inboxReads(sql, now).first("d");
  inboxReads(sql, now).waitingLanes();
  inboxReads(sql, now).passedOver({ eventId: "a", reason: "r", limit: 1, after: "b" });
  outboxReads(sql, now).unsent("a");
  outboxReads(sql, now).sentBy("a");
  outboxReads(sql, now).failedPart("a");
  outboxReads(sql, now).findSent({ channel: "c", account: "d", chat: "1", messageId: "m" });
  sessionReads(sql).session("s");
  sessionReads(sql).sessions({ limit: 1 });
  transcriptReads(sql).transcript("s", { userTurns: 1 });
  decisionReads(sql).event("a");
  decisionReads(sql).events({ limit: 1, outcome: "failed" });
  decisionReads(sql).body("a");
  keyValueReads(sql, now).text("n", "k");
  keyValueReads(sql, now).list("n");
  accept("c", "c:d:1", 1);
  operations.moveChat({ channel: "c", account: "d", from: "1", to: "2", sessions: [{ from: "s", to: "t" }], at: 5 });
  operations.dedupeExcess(5);
  accept("d", "due", 1);
  operations.endOverdue({ now: 99, before: 50, after: 0 });
  for (const subject of ["dedupe", "kv", "sent", "events"] as const)
    operations.prune({ subject, before: 99, keep: 0, after: 0 });
}

test("no SQL statement scans or sorts a table that grows", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, "memory");
  const { sql, texts } = createRecorder(db);
  useEverything(sql);
  expect(texts.size).toBeGreaterThan(50);
  const costly: string[] = [];
  for (const text of texts) {
    for (const { detail } of db.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as unknown as { detail: string }[]) {
      const walks = /^SCAN \w+/.test(detail) && !bounded.test(detail);
      if (walks || detail.includes("TEMP B-TREE")) costly.push(`${detail}: ${text}`);
    }
  }
  db.close();
  expect(costly).toEqual([]);
});
