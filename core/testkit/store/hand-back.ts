import { expect, test } from "vitest";
import { acceptAll, answered, decision, idsOf, newEvent, say, settle, start, take, type WithStore } from "./fixture.ts";

export function handBackRules(withStore: WithStore): void {
  test(
    "a unit that is returned to the queue keeps its place, its due time and its attempt count",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"), newEvent("b"));
      await take(store);
      await store.handBack("a", { due: start + 100 });
      expect(await store.stats()).toMatchObject({ waiting: 2, running: 0 });
      expect(await store.waitingLanes()).toEqual([{ lane: "lane", due: start + 100, attempts: 1 }]);
      expect(await store.claim("lane", { now: start + 99, limit: 50 })).toEqual({ unit: null, due: start + 100 });
      expect(await take(store, "lane", start + 100)).toMatchObject({ id: "a", attempts: 2 });
    }),
  );

  test(
    "a delay may be a fraction of a millisecond, or infinite",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await store.handBack("a", { due: start + 0.5 });
      await take(store, "lane", start + 1);
      await store.handBack("a", { due: Number.POSITIVE_INFINITY });
      expect(await store.waitingLanes()).toEqual([{ lane: "lane", due: Number.POSITIVE_INFINITY, attempts: 2 }]);
    }),
  );

  test(
    "an attempt can be taken back",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await store.handBack("a", { due: 0, uncount: true });
      expect((await store.event("a"))?.attempts).toBe(0);
      expect((await take(store)).attempts).toBe(1);
    }),
  );

  test(
    "only a unit that has never run may say that it runs for the first time",
    withStore(async ({ store }) => {
      const fresh = newEvent("fresh", { lane: "other" });
      const { unit } = await store.accept({ ...fresh, claim: true });
      await acceptAll(store, newEvent("a"));
      // A store that cannot tell leaves the member out.
      for (const first of [unit, await take(store)]) expect([true, undefined]).toContain(first?.isFirstRun);
      await store.handBack("fresh", { due: 0, uncount: true });
      await store.handBack("a", { due: 0, uncount: true });
      expect((await take(store, "other")).isFirstRun).toBe(undefined);
      expect((await take(store)).isFirstRun).toBe(undefined);
      await settle(store, "a");
      await store.replay("a", start);
      expect((await take(store)).isFirstRun).toBe(undefined);
    }),
  );

  test(
    "the attempts of a running unit can be set, and of no other",
    withStore(async ({ store, reopen }) => {
      await acceptAll(
        store,
        newEvent("a", { gather: { key: "g", due: start } }),
        newEvent("b", { gather: { key: "g", due: start } }),
      );
      await store.setAttempts("a", 5);
      await take(store);
      await store.setAttempts("a", 0);
      await store.setAttempts("a", 0);
      expect([(await store.event("a"))?.attempts, (await store.event("b"))?.attempts]).toEqual([0, 0]);
      const next = await reopen();
      await next.begin(start);
      expect((await take(next)).attempts).toBe(1);
      await next.setAttempts("a", 3);
      await settle(next, "a");
      await next.setAttempts("a", 7);
      expect((await next.event("a"))?.attempts).toBe(3);
    }),
  );

  test(
    "setting the attempts of a unit changes those of its later events by as much",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", { gather: { key: "g", due: start } }));
      await take(store);
      await store.handBack("a", { due: start });
      await acceptAll(store, newEvent("b", { gather: { key: "g", due: start } }));
      expect((await take(store)).events.map(({ attempts }) => attempts)).toEqual([2, 1]);
      await store.setAttempts("a", 1);
      await store.handBack("a", { due: start });
      expect((await take(store)).events.map(({ id, attempts }) => [id, attempts])).toEqual([
        ["a", 2],
        ["b", 1],
      ]);
    }),
  );

  test(
    "a unit whose turn has not ended gathers again; a later event does not shorten its delay",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", { gather: { key: "g", due: start } }));
      await take(store);
      await store.handBack("a", { due: start + 1_000 });
      await acceptAll(store, newEvent("b", { gather: { key: "g", due: start + 10 } }));
      expect(await store.claim("lane", { now: start + 10, limit: 50 })).toEqual({ unit: null, due: start + 1_000 });
      const unit = await take(store, "lane", start + 1_000);
      expect(unit.events.map(({ id, attempts }) => [id, attempts])).toEqual([
        ["a", 2],
        ["b", 1],
      ]);
    }),
  );

  test(
    "events that no longer fit into a unit that was handed back become a unit of their own",
    withStore(async ({ store }) => {
      const gather = { key: "g", due: start };
      await acceptAll(store, newEvent("a", { gather }), newEvent("b", { gather }));
      await take(store);
      await store.handBack("a", { due: 0 });
      expect(idsOf(await take(store, "lane", start, 1))).toEqual(["a"]);
      await say(store, "a", ["hello"]);
      await settle(store, "a");
      expect(await store.event("b")).toMatchObject({ state: "waiting", decisions: [] });
      expect(await take(store)).toMatchObject({ id: "b", stage: "turn", attempts: 2 });
    }),
  );

  test(
    "a unit whose turn is done is handed back unchanged, whatever has arrived since",
    withStore(async ({ store }) => {
      const gather = { key: "g", due: start };
      await acceptAll(store, newEvent("a", { gather }), newEvent("b", { gather }));
      await take(store);
      await say(store, "a", ["hello"]);
      await store.handBack("a", { due: start + 10 });
      await acceptAll(store, newEvent("c", { gather }));
      const unit = await take(store, "lane", start + 10);
      expect(unit).toMatchObject({
        id: "a",
        attempts: 2,
        stage: "delivery",
        ending: { ...answered, sessionKey: "session", agentId: "main" },
      });
      expect(idsOf(unit)).toEqual(["a", "b"]);
      await settle(store, "a");
      expect(idsOf(await take(store, "lane", start + 10))).toEqual(["c"]);
    }),
  );

  test(
    "a unit keeps its preview until it ends",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const address = { channel: "loopback", account: "default", chat: "5", thread: "3" };
      await store.setPreview("a", { address, messageIds: ["11"] });
      await store.setPreview("a", { address, messageIds: ["11", "12"] });
      await store.handBack("a", { due: 0 });
      expect((await take(store)).preview).toEqual({ address, messageIds: ["11", "12"] });
    }),
  );

  test(
    "only a running unit can be handed back",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await expect(store.handBack("a", { due: 0 })).rejects.toThrow();
      await settle(store, (await take(store)).id);
      await expect(store.handBack("a", { due: 0 })).rejects.toThrow();
      expect((await store.event("a"))?.state).toBe("settled");
    }),
  );
}

export function ownershipRules(withStore: WithStore): void {
  const fenced = { code: "state_fenced" };

  test(
    "the next owner takes over running units, with their place, attempt count and stage",
    withStore(async ({ store, reopen }) => {
      await acceptAll(
        store,
        newEvent("a", { lane: "one" }),
        newEvent("b", { lane: "two" }),
        newEvent("c", { lane: "one" }),
      );
      await take(store, "one");
      const preview = { address: { channel: "loopback", account: "default", chat: "5" }, messageIds: ["9"] };
      await store.setPreview("a", preview);
      await take(store, "two");
      await say(store, "b", ["hello"]);
      const next = await reopen();
      const first = await next.begin(start);
      expect(first.resumed).toBe(2);
      expect(await next.stats()).toMatchObject({ waiting: 3, running: 0, outboxWaiting: 1 });
      expect(await take(next, "one")).toMatchObject({ id: "a", attempts: 2, stage: "turn", preview });
      expect(await take(next, "two")).toMatchObject({ id: "b", attempts: 2, stage: "delivery" });
      expect(await store.fence()).toBe(first.fence);
      expect((await next.begin(start)).fence).toBeGreaterThan(first.fence);
      expect(await store.fence()).toBeGreaterThan(first.fence);
    }),
  );

  test(
    "a store that another process took over can no longer change running units, but still accepts events",
    withStore(async ({ store, reopen }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [row] = await say(store, "a", ["hello"]);
      const next = await reopen();
      await next.begin(start);
      await take(next);
      await expect(store.claim("lane", { now: start, limit: 1 })).rejects.toMatchObject(fenced);
      await expect(settle(store, "a")).rejects.toMatchObject(fenced);
      await expect(say(store, "a", ["twice"])).rejects.toMatchObject(fenced);
      await expect(store.handBack("a", { due: 0 })).rejects.toMatchObject(fenced);
      // It may be rejected or ignored: what counts is the number that the next owner finds.
      await store.setAttempts("a", 9).catch(() => {});
      expect((await next.event("a"))?.attempts).toBe(2);
      await expect(store.sending(row?.id ?? 0)).rejects.toMatchObject(fenced);
      await expect(store.doubted(row?.id ?? 0, { decisions: [decision("late")] })).rejects.toMatchObject(fenced);
      await expect(
        store.setPreview("a", { address: { channel: "loopback", account: "default", chat: "5" }, messageIds: ["1"] }),
      ).rejects.toMatchObject(fenced);
      await expect(store.sent(row?.id ?? 0, { messageId: "1" }, { at: start })).rejects.toMatchObject(fenced);
      await store.accept(newEvent("b"));
      expect(await settle(next, "a")).toBe(true);
      expect((await take(next)).id).toBe("b");
    }),
  );

  test(
    "a store without `begin` can accept, read and replay, but not claim",
    withStore(async ({ store, reopen }) => {
      const visitor = await reopen();
      await visitor.accept(newEvent("a"));
      await expect(visitor.claim("lane", { now: start, limit: 1 })).rejects.toMatchObject(fenced);
      await settle(store, (await take(store)).id);
      expect(await visitor.replay("a", start)).toBe(true);
      expect((await visitor.event("a"))?.state).toBe("waiting");
      expect((await take(store)).id).toBe("a");
    }),
  );
}
