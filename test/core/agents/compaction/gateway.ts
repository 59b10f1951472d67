/** Compactions of gateways whose engine is given, on a store with one conversation. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type CompactionOptions, createCompactions } from "../../../../core/agents/compaction/compaction.ts";
import type { ConversationStanding } from "../../../../core/agents/compaction/context-standing.ts";
import { createModelRooms } from "../../../../core/agents/context/model-rooms.ts";
import type { Inbound, Route } from "../../../../core/contract/types.ts";
import { type EngineDefinition, firstMargin, type ModelRoom, usualTokensPer } from "../../../../core/sdk/contract.ts";
import type { NodeReport, Nodes } from "../../../../core/state/nodes.ts";
import { openSqliteStore } from "../../../../core/state/sqlite/index.ts";
import type { Store } from "../../../../core/state/store.ts";

export type Complete = NonNullable<EngineDefinition["complete"]>;

const start = 1_000;
export const room: ModelRoom = { tokens: 4_000, source: "config", tokensPer: usualTokensPer, margin: firstMargin };
const words = "the quick brown fox jumps over the lazy dog ".repeat(20);

/** The conversation has so many turns. */
export async function openStore(turns = 14): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "state-"));
  const store = await openSqliteStore({ directory, now: () => start });
  onTestFinished(() => store.close());
  await store.begin(start);
  for (let n = 1; n <= turns; n += 1) {
    const id = `event-${n}`;
    const event = { source: "s", kind: "k", lane: "l", authority: "channel", body: {} } as const;
    await store.accept({ event, id, at: start });
    await store.claim("l", { now: start, limit: 1 });
    const ending = { outcome: "answered", reason: "sent", sessionKey: "a", agentId: "main" } as const;
    const messages = [
      { role: "user" as const, content: `turn ${n}: ${words}`, at: start },
      { role: "assistant" as const, content: "yes", at: start },
    ];
    await store.say({ unitId: id, at: start, rows: [], ending, transcript: { sessionKey: "a", messages } });
    await store.settle({ ...ending, unitId: id, at: start, decisions: [] });
  }
  return store;
}

/** Compactions of one gateway; `complete` writes the summary. `node`: of several that share the store. */
export function gateway(
  store: Store,
  complete: Complete,
  {
    node,
    alive = [],
    now = () => start,
  }: { readonly node?: string; readonly alive?: readonly string[]; readonly now?: () => number } = {},
) {
  const engine: EngineDefinition = { id: "e", needsModel: true, complete, run: async function* () {} };
  const warnings: object[] = [];
  const standings: CompactionOptions["standings"] = {
    settings: () => ({}),
    async of(): Promise<ConversationStanding> {
      const conversation = await store.conversation("a");
      return {
        ...{ settings: {}, engine, models: { model: "a/b", fallbacks: [] }, room, rooms: { "a/b": room } },
        ...{ providers: {}, conversation, generation: 0, userTurns: 100, fixedTokens: 100 },
        tokens: 230 * conversation.messages.length,
      };
    },
  };
  const nodes = {
    name: node,
    time: () => start,
    reports: async () => alive.map((name) => ({ name, alive: true }) as NodeReport),
  } as unknown as Nodes;
  const compactions = createCompactions({
    standings,
    rooms: createModelRooms({ store, log: { info() {}, warn() {} }, now }),
    store: node === undefined ? store : { ...store, nodes },
    spending: { meter: () => ({ spending: { begin: async () => ({ id: "" }), end: async () => {} }, reported() {} }) },
    log: { info() {}, warn: (fields) => void warnings.push(fields) },
    now,
  });
  onTestFinished(() => compactions.close());
  return { ...compactions, warnings };
}

export const turn = {
  inbound: {} as Inbound,
  route: { agentId: "main", sessionKey: "a", to: null, isolated: false } as Route,
  asker: { agentId: "main", purpose: "turn" },
  ...{ tokens: 3_500, room, leftOut: 0, userTurns: 100, readTurns: 14 },
} as const;

export const asked = { ...turn, focus: "" };
