import { expect, test } from "vitest";
import type { ModelCall, Store } from "../../state/index.ts";
import { start, type WithNodes, type WithStore } from "./fixture.ts";

const hour = 3_600_000;

export function modelCall(id: string, more: Partial<ModelCall> = {}): ModelCall {
  return {
    ...{ id, at: start, agentId: "main", model: "local/small", purpose: "turn" },
    ...{
      inputTokens: 10,
      outputTokens: 5,
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: 0,
      usd: null,
      priceSource: null,
      estimated: false,
    },
    ...more,
  };
}

const none = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export function modelCallRules(withStore: WithStore): void {
  test(
    "calls are summed by agent and model, the most tokens first; calls without a price are summed apart, too",
    withStore(async ({ store, reopen }) => {
      expect(await store.usage({ since: 0 })).toEqual([]);
      await store.recordCall(
        modelCall("a", { inputTokens: 100, outputTokens: 50, cacheRead: 40, cacheWrite: 9, reasoning: 20 }),
      );
      await store.recordCall(modelCall("b", { at: start + 10, estimated: true, usd: 0.5, priceSource: "config" }));
      await store.recordCall(modelCall("c", { at: start + 10, agentId: "writer", usd: 0.25, priceSource: "list" }));
      const later = await reopen();
      const counts = { inputTokens: 100, outputTokens: 50, cacheRead: 40, cacheWrite: 9, reasoning: 20 };
      expect(await later.usage({ since: start })).toEqual([
        {
          ...{
            agentId: "main",
            model: "local/small",
            calls: 2,
            ...counts,
            inputTokens: 110,
            outputTokens: 55,
            usd: 0.5,
            estimated: 1,
          },
          unpriced: { calls: 1, ...counts },
        },
        {
          ...{
            agentId: "writer",
            model: "local/small",
            calls: 1,
            ...none,
            inputTokens: 10,
            outputTokens: 5,
            usd: 0.25,
            estimated: 0,
          },
          unpriced: { calls: 0, ...none },
        },
      ]);
      expect((await later.usage({ since: start + 1 })).map(({ calls }) => calls)).toEqual([1, 1]);
    }),
  );

  test(
    "calls are summed by model, by person or by purpose",
    withStore(async ({ store }) => {
      const ofPerson = { channel: "loopback", sender: "7" };
      await store.recordCall(modelCall("a", { ...ofPerson, model: "local/big", inputTokens: 90 }));
      await store.recordCall(modelCall("b", { ...ofPerson, agentId: "writer", purpose: "describe" }));
      await store.recordCall(modelCall("c", { channel: "heartbeat", purpose: "heartbeat" }));
      const groups = async (by: Parameters<Store["usage"]>[0]["by"]) =>
        (await store.usage({ since: 0, by: by ?? "agent" })).map(({ agentId, model, sender, purpose, calls }) => [
          sender ?? purpose ?? agentId,
          model,
          calls,
        ]);
      expect(await groups("model")).toEqual([
        ["", "local/big", 1],
        ["", "local/small", 2],
      ]);
      expect(await groups("sender")).toEqual([
        ["loopback:7", "local/big", 1],
        ["", "local/small", 1],
        ["loopback:7", "local/small", 1],
      ]);
      expect((await groups("purpose")).map(([purpose]) => purpose)).toEqual(["turn", "describe", "heartbeat"]);
    }),
  );

  test(
    "a call that was reserved is counted until it is recorded or released; a limit refuses what would exceed it",
    withStore(async ({ store }) => {
      const limits = [{ since: start, agentId: "main", tokens: 50 }];
      expect(await store.reserveCall(modelCall("a", { outputTokens: 20, estimated: true }), limits)).toEqual({
        refusedBy: null,
        spent: [{ tokens: 0, usd: 0 }],
      });
      expect(await store.reserveCall(modelCall("b", { outputTokens: 11 }), limits)).toEqual({
        refusedBy: 0,
        spent: [{ tokens: 30, usd: 0 }],
      });
      expect(await store.spent(limits)).toEqual([{ tokens: 30, usd: 0 }]);
      await store.recordCall(modelCall("a", { outputTokens: 2 }));
      expect(await store.spent(limits)).toEqual([{ tokens: 12, usd: 0 }]);
      expect(await store.reserveCall(modelCall("c", { inputTokens: 30, outputTokens: 8 }), limits)).toMatchObject({
        refusedBy: null,
      });
      await store.releaseCall("c");
      expect(await store.spent(limits)).toEqual([{ tokens: 12, usd: 0 }]);
      expect((await store.usage({ since: 0 })).map(({ calls, estimated }) => ({ calls, estimated }))).toEqual([
        { calls: 1, estimated: 0 },
      ]);
    }),
  );

  test(
    "each limit has its own calls: by time, agent, person and price",
    withStore(async ({ store }) => {
      const by7 = { channel: "loopback", sender: "7" };
      await store.recordCall(modelCall("old", { ...by7, at: start - 1, usd: 9 }));
      await store.recordCall(modelCall("a", { ...by7, usd: 1.5 }));
      await store.recordCall(modelCall("b", { ...by7, agentId: "writer", usd: 0.25 }));
      await store.recordCall(modelCall("c", { channel: "other", sender: "7" }));
      const sender = { channel: "loopback", id: "7" };
      const scopes = [{ since: 0 }, { since: start }, { since: start, agentId: "main" }, { since: start, sender }];
      expect(await store.spent(scopes)).toEqual([
        { tokens: 60, usd: 10.75 },
        { tokens: 45, usd: 1.75 },
        { tokens: 30, usd: 1.5 },
        { tokens: 30, usd: 1.75 },
      ]);
      const limits = [
        { since: start, tokens: 100, usd: 5 },
        { since: start, sender, usd: 2 },
      ];
      expect((await store.reserveCall(modelCall("d", { ...by7, usd: 0.5 }), limits)).refusedBy).toBe(1);
      expect((await store.reserveCall(modelCall("e", { ...by7, usd: 0.25 }), limits)).refusedBy).toBeNull();
      expect((await store.reserveCall(modelCall("f", { usd: 0.01 }), limits.slice(1))).refusedBy).toBe(0);
    }),
  );

  test(
    "of calls that ask at the same moment, as many pass as there is room for",
    withStore(async ({ store }) => {
      const limits = [{ since: 0, tokens: 50 }];
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.reserveCall(modelCall(`c${n}`), limits)),
      );
      expect(asked.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(3);
      expect(await store.spent(limits)).toEqual([{ tokens: 45, usd: 0 }]);
    }),
  );

  test(
    "pruning removes old calls; the removal of a person keeps the tokens and forgets whose they were",
    withStore(async ({ store }) => {
      await store.recordCall(modelCall("old", { at: start - 2 * hour }));
      await store.recordCall(
        modelCall("a", { channel: "loopback", sender: "7", sessionKey: "agent:main:loopback:direct:7" }),
      );
      const limits = { now: start, keepEventsMs: hour, keepEvents: 100, keepSentMs: hour };
      expect(await store.prune(limits)).toEqual({ removed: 0 });
      expect(await store.prune({ ...limits, keepCallsMs: hour })).toEqual({ removed: 1 });
      expect(await store.usage({ since: 0, by: "sender" })).toMatchObject([{ sender: "loopback:7", calls: 1 }]);
      await store.removeSentTo({ channel: "loopback", id: "7" });
      expect(await store.usage({ since: 0, by: "sender" })).toMatchObject([{ sender: "", calls: 1, inputTokens: 10 }]);
    }),
  );
}

export function sharedModelCallRules(withNodes: WithNodes): void {
  test(
    "calls of two nodes that ask at the same moment cannot exceed a limit together, and each node counts " +
      "those of the other",
    withNodes(async ({ one, two }) => {
      const limits = [{ since: 0, tokens: 50 }];
      const ask = (store: Store, name: string) =>
        Array.from({ length: 10 }, (_, n) => store.reserveCall(modelCall(`${name}${n}`), limits));
      const asked = await Promise.all([...ask(one, "a"), ...ask(two, "b")]);
      expect(asked.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(3);
      for (const store of [one, two]) expect(await store.spent(limits)).toEqual([{ tokens: 45, usd: 0 }]);
    }),
  );
}
