import { expect, test } from "vitest";
import { acceptAll, address, decision, newEvent, say, settle, start, take, type WithStore } from "./fixture.ts";

const hour = 3_600_000;

export function upkeepRules(withStore: WithStore): void {
  test(
    "pruning removes settled events past their age with their rows, and nothing that waits",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("ended"), newEvent("waits"));
      await take(store);
      const [row] = await say(store, "ended", ["one"]);
      await store.doubted(row?.id ?? 0, { decisions: [decision("x")] });
      await settle(store, "ended", start + hour);
      await acceptAll(store, newEvent("young", { at: start + 2 * hour, settled: { outcome: "silent", reason: "x" } }));
      const limits = { keepEventsMs: hour, keepEvents: 100, keepSentMs: hour };
      expect(await store.prune({ ...limits, now: start + 2 * hour })).toEqual({ removed: 0 });
      expect(await store.prune({ ...limits, now: start + 2 * hour + 1 })).toEqual({ removed: 1 });
      expect(await store.event("ended")).toBeNull();
      expect(await store.unsent("ended")).toEqual([]);
      expect((await store.event("waits"))?.state).toBe("waiting");
      expect((await store.event("young"))?.state).toBe("settled");
      expect((await take(store)).id).toBe("waits");
    }),
  );

  test(
    "pruning keeps the newest of too many settled events, and new events still come after them",
    withStore(async ({ store }) => {
      const settled = { outcome: "silent", reason: "x" } as const;
      await Promise.all(Array.from({ length: 1_200 }, (_, n) => store.accept(newEvent(`e${n}`, { settled }))));
      await store.accept(newEvent("waits"));
      const limits = { now: start, keepEventsMs: hour, keepSentMs: hour };
      expect(await store.prune({ ...limits, keepEvents: 100 })).toEqual({ removed: 1_100 });
      expect((await store.events({ limit: 1_000, outcome: "silent" })).map(({ id }) => id).at(-1)).toBe("e1100");
      await settle(store, (await take(store)).id);
      await store.prune({ ...limits, now: start + 2 * hour, keepEvents: 0 });
      await acceptAll(store, newEvent("later"), newEvent("last"));
      expect((await take(store)).id).toBe("later");
      expect((await store.stats()).settled).toMatchObject({ silent: 1_200, answered: 1 });
    }),
  );

  test(
    "pruning removes expired keys, forgotten dedupe keys and old messages",
    withStore(async ({ store, clock }) => {
      await acceptAll(store, newEvent("a", { dedupeKey: "d", dedupeUntil: start + hour }));
      await take(store);
      const [row] = await say(store, "a", ["one"]);
      await store.sent(row?.id ?? 0, { messageId: "m" }, { at: start });
      await store.set("n", "old", 1, { expiresAt: start + hour });
      await store.set("n", "kept", 1);
      clock.now = start + hour + 1;
      expect(await store.prune({ now: clock.now, keepEventsMs: hour, keepEvents: 100, keepSentMs: hour })).toEqual({
        removed: 3,
      });
      expect(await store.findSent({ ...address, messageId: "m" })).toBeNull();
      expect((await store.list("n")).map(({ key }) => key)).toEqual(["kept"]);
      expect((await store.accept(newEvent("b", { dedupeKey: "d", at: clock.now }))).duplicate).toBe(false);
    }),
  );

  test(
    "pruning forgets the oldest of too many dedupe keys",
    withStore(async ({ store, clock }) => {
      for (let n = 0; n < 20; n++)
        await store.accept(newEvent(`e${n}`, { dedupeKey: `d${n}`, dedupeUntil: start + hour + n }));
      clock.now = start + 1;
      const limits = { now: clock.now, keepEventsMs: hour, keepEvents: 100, keepSentMs: hour };
      expect(await store.prune({ ...limits, keepDedupeKeys: 20 })).toEqual({ removed: 0 });
      expect(await store.prune({ ...limits, keepDedupeKeys: 5 })).toEqual({ removed: 15 });
      expect(await store.first("d14")).toBeNull();
      expect(await store.first("d15")).toMatchObject({ eventId: "e15" });
    }),
  );

  test(
    "a unit that has been due for too long fails with its replies; gathering and replayed events stay",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("said", { lane: "one" }), newEvent("never", { lane: "two" }));
      await acceptAll(store, newEvent("gathers", { lane: "three", gather: { key: "g", due: null } }));
      await acceptAll(store, newEvent("again", { lane: "four", settled: { outcome: "failed", reason: "x" } }));
      await store.replay("again", start + hour);
      await take(store, "one");
      await say(store, "said", ["one", "two"]);
      await store.handBack("said", { due: start + 5_000, decisions: [decision("account_not_open")] });
      await acceptAll(store, newEvent("young", { lane: "five", at: start + hour }));
      const limits = { keepEventsMs: 10 * hour, keepEvents: 100, keepSentMs: hour, keepWaitingMs: hour };
      expect(await store.prune({ ...limits, now: start + hour })).toEqual({ removed: 0 });
      expect(await store.prune({ ...limits, now: start + hour + 6_000 })).toEqual({ removed: 0, ended: 2 });
      for (const id of ["said", "never"]) {
        expect(await store.event(id)).toMatchObject({
          state: "settled",
          outcome: "failed",
          reason: "waited_too_long",
          settledAt: start + hour + 6_000,
        });
      }
      expect((await store.event("said"))?.decisions.map(({ code }) => code)).toEqual([
        "account_not_open",
        "waited_too_long",
      ]);
      expect(await store.unsent("said")).toEqual([]);
      expect(await store.stats()).toMatchObject({ waiting: 3, running: 0, outboxWaiting: 0, settled: { failed: 2 } });
      expect((await store.waitingLanes()).map(({ lane }) => lane)).toEqual(["four", "five"]);
      expect(await store.prune({ ...limits, now: start + hour + 6_000 })).toEqual({ removed: 0 });
      expect(await store.prune({ ...limits, now: start + 20 * hour, keepWaitingMs: 30 * hour })).toEqual({
        removed: 2,
      });
    }),
  );

  test(
    "closing completes everything requested before it, and refuses what comes later",
    withStore(async ({ store, reopen }) => {
      const asked = Promise.all(Array.from({ length: 300 }, (_, n) => store.accept(newEvent(`e${n}`))));
      await store.close();
      await asked;
      await expect(store.accept(newEvent("late"))).rejects.toThrow();
      await expect(store.stats()).rejects.toThrow();
      await store.close();
      expect(await (await reopen()).stats()).toMatchObject({ waiting: 300 });
    }),
  );
}
