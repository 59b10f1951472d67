import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CompactionOptions, createCompactions } from "../../../../core/agents/compaction/compaction.ts";
import type { ConversationStanding } from "../../../../core/agents/compaction/context-standing.ts";
import { createModelRooms } from "../../../../core/agents/context/model-rooms.ts";
import type { Inbound, Route } from "../../../../core/contract/types.ts";
import { type EngineDefinition, firstMargin, type ModelRoom, usualTokensPer } from "../../../../core/sdk/contract.ts";
import type { Nodes } from "../../../../core/state/nodes.ts";
import { openSqliteStore } from "../../../../core/state/sqlite/index.ts";
import type { Store } from "../../../../core/state/store.ts";

const now = () => 1_000;
const room: ModelRoom = { tokens: 4_000, source: "config", tokensPer: usualTokensPer, margin: firstMargin };
const words = "the quick brown fox jumps over the lazy dog ".repeat(20);
const silent = { info() {}, warn() {} };

async function openStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "state-"));
  const store = await openSqliteStore({ directory, now });
  onTestFinished(() => store.close());
  await store.begin(now());
  for (let n = 1; n <= 14; n += 1) {
    const id = `event-${n}`;
    const event = { source: "s", kind: "k", lane: "l", authority: "channel", body: {} } as const;
    await store.accept({ event, id, at: now() });
    await store.claim("l", { now: now(), limit: 1 });
    const ending = { outcome: "answered", reason: "sent", sessionKey: "a", agentId: "main" } as const;
    const messages = [
      { role: "user" as const, content: `${n} ${words}`, at: now() },
      { role: "assistant" as const, content: "yes", at: now() },
    ];
    await store.say({ unitId: id, at: now(), rows: [], ending, transcript: { sessionKey: "a", messages } });
    await store.settle({ ...ending, unitId: id, at: now(), decisions: [] });
  }
  return store;
}

/** Compactions of one gateway; `complete` writes the summary. */
function gateway(store: Store, complete: NonNullable<EngineDefinition["complete"]>, node?: string) {
  const engine: EngineDefinition = { id: "e", needsModel: true, complete, run: async function* () {} };
  const standings: CompactionOptions["standings"] = {
    settings: () => ({}),
    async of(): Promise<ConversationStanding> {
      const conversation = await store.conversation("a");
      return {
        ...{
          settings: {},
          engine,
          models: { model: "a/b", fallbacks: [] },
          room,
          rooms: { "a/b": room },
          providers: {},
        },
        ...{
          conversation,
          generation: 0,
          userTurns: 100,
          fixedTokens: 100,
          tokens: 230 * conversation.messages.length,
        },
      };
    },
  };
  const nodes = { name: node, time: now } as unknown as Nodes;
  return createCompactions({
    standings,
    rooms: createModelRooms({ store, log: silent, now }),
    store: node === undefined ? store : { ...store, nodes },
    spending: { meter: () => ({ spending: { begin: async () => ({ id: "" }), end: async () => {} }, reported() {} }) },
    log: silent,
    now,
  });
}

const turn = {
  inbound: {} as Inbound,
  route: { agentId: "main", sessionKey: "a", to: null, isolated: false } as Route,
  asker: { agentId: "main", purpose: "turn" },
  ...{ tokens: 3_500, room, leftOut: 0, userTurns: 100, readTurns: 14 },
} as const;

test("of two nodes, one summarizes", async () => {
  const store = await openStore();
  let calls = 0;
  const complete = async () => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { text: "a summary", model: "a/b" };
  };
  const both = [gateway(store, complete, "one"), gateway(store, complete, "two")];
  for (const each of both) each.after(turn);
  await expect.poll(async () => (await store.summaries("a")).length).toBe(1);
  for (const each of both) await each.close();
  expect([calls > 0, (await store.summaries("a")).length]).toEqual([true, 1]);
  expect(calls).toBeLessThanOrEqual(2);
});

test("pieces fit half of the context, and each is folded into the summary so far", async () => {
  const store = await openStore();
  const asked: string[] = [];
  const each = gateway(store, async ({ text, maxTokens }) => {
    asked.push(text);
    expect(maxTokens).toBe(500);
    return { text: `summary ${asked.length}`, model: "a/b" };
  });
  await each.now({ ...turn, focus: "" });
  expect(asked.length).toBeGreaterThan(1);
  for (const text of asked) expect(text.length).toBeLessThan(2_000 * 4);
  expect(asked[1]).toContain("The summary so far:\nsummary 1");
  expect((await store.conversation("a")).summary?.text).toBe(`summary ${asked.length}`);
  await each.close();
});

test("words that are erased while the summary is written are not kept in it", async () => {
  const store = await openStore();
  const each = gateway(store, async () => {
    const [message] = await store.messagesAbout({ text: "1 the quick", unitIds: [] });
    const { id = 0, transcript = 0 } = message ?? {};
    await store.editTranscript({ transcript, remove: [], replace: [{ id, content: "[removed]" }] });
    return { text: "what was erased", model: "a/b" };
  });
  expect(await each.now({ ...turn, focus: "" })).toBeUndefined();
  expect(await store.summaries("a")).toEqual([]);
  await each.close();
});

test("a closing gateway ends the summary that it writes, and waits for no other", async () => {
  const store = await openStore();
  let ended = false;
  const each = gateway(store, (_, __, signal) => {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => {
      ended = true;
      reject(signal.reason);
    });
    return promise;
  });
  each.after(turn);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await each.close();
  expect([ended, await store.summaries("a")]).toEqual([true, []]);
});
