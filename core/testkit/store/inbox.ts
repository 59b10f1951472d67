import { expect, test } from "vitest";
import { acceptAll, answered, decision, idsOf, newEvent, say, settle, start, take, type WithStore } from "./fixture.ts";

export function inboxRules(withStore: WithStore): void {
  test(
    "the silent events before an event of a lane are found by reason and by unit, newest first, none before `after`",
    withStore(async ({ store }) => {
      const pass = async (id: string, reason: string, lane = "lane", more: readonly string[] = []) => {
        const gather = { key: `g${id}`, due: start } as const;
        await acceptAll(store, ...[id, ...more].map((each) => newEvent(each, { lane, gather })));
        await take(store, lane);
        await store.settle({ unitId: id, at: start, outcome: "silent", reason, decisions: [] });
      };
      await pass("a", "unasked");
      await pass("b", "other");
      await pass("c", "unasked", "lane", ["d"]);
      await pass("e", "unasked", "another lane");
      await pass("f", "unasked");
      await acceptAll(store, newEvent("now"), newEvent("later"));
      const found = async (options: { readonly limit: number; readonly after?: string }) =>
        (await store.passedOver("now", { reason: "unasked", ...options })).map((unit) => unit.map(({ id }) => id));
      expect(await found({ limit: 10 })).toEqual([["a"], ["c", "d"], ["f"]]);
      expect(await found({ limit: 2 })).toEqual([["d"], ["f"]]);
      expect(await found({ limit: 10, after: "b" })).toEqual([["c", "d"], ["f"]]);
      expect(await found({ limit: 10, after: "gone" })).toEqual([["a"], ["c", "d"], ["f"]]);
      expect(await store.passedOver("f", { reason: "unasked", limit: 1 })).toMatchObject([
        [{ id: "d", body: { text: "body of d" } }],
      ]);
      expect(await store.passedOver("nobody", { reason: "unasked", limit: 10 })).toEqual([]);
    }),
  );

  test(
    "an accepted event waits, and is returned unchanged",
    withStore(async ({ store }) => {
      const event = newEvent("e1", { dedupeKey: "d1", gather: { key: "g", due: start } });
      expect(
        await store.accept({
          ...event,
          event: { ...event.event, account: "work", body: { text: "ä \u0000 \u{1F600}" } },
        }),
      ).toEqual({
        eventId: "e1",
        duplicate: false,
      });
      expect(await store.body("e1")).toEqual({ text: "ä \u0000 \u{1F600}" });
      expect(await store.event("e1")).toMatchObject({
        id: "e1",
        source: "hooks",
        account: "work",
        lane: "lane",
        state: "waiting",
        attempts: 0,
      });
      const unit = await take(store);
      expect(unit.events[0]).toMatchObject({
        ...event.event,
        account: "work",
        id: "e1",
        acceptedAt: start,
        attempts: 1,
        body: { text: "ä \u0000 \u{1F600}" },
      });
    }),
  );

  test(
    "a repeated dedupe key returns the first event's id, and says whether the body is the same",
    withStore(async ({ store }) => {
      const keyed = (id: string, fingerprint: string) =>
        newEvent(id, { dedupeKey: "d", fingerprint, dedupeUntil: start + 1_000 });
      await store.accept(keyed("first", "same"));
      expect(await store.accept(keyed("second", "same"))).toEqual({
        eventId: "first",
        duplicate: true,
        sameFingerprint: true,
      });
      expect(await store.accept(keyed("third", "other"))).toEqual({
        eventId: "first",
        duplicate: true,
        sameFingerprint: false,
      });
      expect((await store.stats()).waiting).toBe(1);
      expect(await store.event("second")).toBeNull();
    }),
  );

  test(
    "when a dedupe key is accepted many times at once, exactly one is new",
    withStore(async ({ store }) => {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.accept(newEvent(`e${n}`, { dedupeKey: "d" }))),
      );
      expect(all.filter((accepted) => !accepted.duplicate)).toHaveLength(1);
      expect(new Set(all.map((accepted) => accepted.eventId)).size).toBe(1);
    }),
  );

  test(
    "a dedupe key is kept after its event has ended, until it expires",
    withStore(async ({ store }) => {
      const keyed = (id: string, at: number) => newEvent(id, { dedupeKey: "d", at, dedupeUntil: at + 1_000 });
      await store.accept(keyed("first", start));
      expect(await store.first("d")).toEqual({ eventId: "first" });
      expect(await store.first("other")).toBeNull();
      await settle(store, (await take(store)).id);
      expect((await store.accept(keyed("second", start + 999))).duplicate).toBe(true);
      expect(await store.accept(keyed("third", start + 1_000))).toEqual({ eventId: "third", duplicate: false });
      expect((await store.accept(keyed("fourth", start + 1_999))).eventId).toBe("third");
    }),
  );

  test(
    "an event that is settled on acceptance never waits, and is listed with its outcome",
    withStore(async ({ store }) => {
      await store.accept(
        newEvent("e1", {
          settled: { outcome: "silent", reason: "nothing_to_do", decisions: [decision("why")] },
          dedupeKey: "d",
        }),
      );
      expect(await store.waitingLanes()).toEqual([]);
      expect(await store.event("e1")).toMatchObject({
        state: "settled",
        outcome: "silent",
        reason: "nothing_to_do",
        settledAt: start,
        decisions: [decision("why")],
      });
      expect(await store.stats()).toMatchObject({ waiting: 0, settled: { silent: 1 } });
      expect((await store.accept(newEvent("e2", { dedupeKey: "d" }))).eventId).toBe("e1");
    }),
  );

  test(
    "an acceptance that fails does not affect the others",
    withStore(async ({ store }) => {
      await store.accept(newEvent("taken"));
      const outcomes = await Promise.allSettled([
        store.accept(newEvent("before")),
        store.accept(newEvent("taken", { dedupeKey: "k", settled: { outcome: "silent", reason: "x" } })),
        store.accept(newEvent("after")),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await store.stats()).toMatchObject({ waiting: 3, settled: { silent: 0 } });
      expect((await store.accept(newEvent("other", { dedupeKey: "k" }))).duplicate).toBe(false);
    }),
  );

  test(
    "lanes with work are listed with the time at which they may start",
    withStore(async ({ store }) => {
      await acceptAll(
        store,
        newEvent("a", { lane: "now" }),
        newEvent("b", { lane: "later", gather: { key: "g", due: start + 100 } }),
        newEvent("c", { lane: "later", gather: { key: "g", due: start + 300, extend: true } }),
        newEvent("d", { lane: "never", gather: { key: "g", due: null } }),
      );
      expect(await store.waitingLanes()).toEqual([
        { lane: "now", due: 0 },
        { lane: "later", due: start + 300, gathers: true },
      ]);
      await store.handBack((await take(store, "later", start + 300)).id, { due: start + 900 });
      expect(await store.waitingLanes()).toEqual([
        { lane: "now", due: 0 },
        { lane: "later", due: start + 900, attempts: 1 },
      ]);
      await say(store, (await take(store, "later", start + 900)).id, ["hello"]);
      await store.handBack("b", { due: 0 });
      expect((await store.waitingLanes())[1]).toEqual({ lane: "later", due: start + 100 });
    }),
  );

  test(
    "a waiting event may start when the clock was set back after it was accepted; a small adjustment changes nothing",
    withStore(async ({ store, clock }) => {
      const hour = 3_600_000;
      const gather = (due: number) => ({ key: "g", due, extend: true as const });
      await acceptAll(store, newEvent("a", { gather: gather(start + 500) }), newEvent("b", { lane: "retried" }));
      await take(store, "retried");
      await store.handBack("b", { due: start + 1_000 });
      clock.now = start - 1_000;
      expect(await store.claim("lane", { now: clock.now, limit: 50 })).toEqual({ unit: null, due: start + 500 });
      expect((await store.waitingLanes()).map(({ due }) => due)).toEqual([start + 500, start + 1_000]);
      clock.now = start - 2 * hour;
      expect((await store.waitingLanes()).map(({ due }) => due)).toEqual([0, 0]);
      // A part that arrives now keeps the others waiting until its own time.
      await acceptAll(store, newEvent("c", { at: clock.now, gather: gather(clock.now + 500) }));
      expect(await store.claim("lane", { now: clock.now, limit: 50 })).toEqual({ unit: null, due: clock.now + 500 });
      expect(idsOf(await take(store, "lane", clock.now + 500))).toEqual(["a", "c"]);
      expect(idsOf(await take(store, "retried", clock.now))).toEqual(["b"]);
    }),
  );

  test(
    "a delay that an earlier process set ends with that process",
    withStore(async ({ store, clock, reopen }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await store.handBack("a", { due: start + 1_000 });
      const next = await reopen();
      await next.begin(clock.now);
      expect(await next.waitingLanes()).toEqual([{ lane: "lane", due: 0, attempts: 1 }]);
    }),
  );

  test(
    "events are listed newest first, by source and outcome, the gateway's own ticks only when asked for",
    withStore(async ({ store }) => {
      await acceptAll(
        store,
        newEvent("a", { lane: "a" }),
        newEvent("b", { source: "chat" }),
        newEvent("tick", { source: "heartbeat" }),
      );
      await settle(store, (await take(store, "a")).id);
      const ids = async (filter: Partial<Parameters<typeof store.events>[0]>) =>
        (await store.events({ limit: 10, ...filter })).map((event) => event.id);
      expect(await ids({})).toEqual(["b", "a"]);
      expect(await ids({ includeInternal: true })).toEqual(["tick", "b", "a"]);
      expect(await ids({ source: "heartbeat", exceptKind: "agent" })).toEqual([]);
      expect(await ids({ source: "chat" })).toEqual(["b"]);
      expect(await ids({ outcome: "answered" })).toEqual(["a"]);
      expect(await ids({ outcome: "failed" })).toEqual([]);
      expect(await ids({ limit: 1 })).toEqual(["b"]);
    }),
  );

  test(
    "events are listed by chat, sender, time and what has not ended, in either order",
    withStore(async ({ store }) => {
      const from = (id: string, lane: string, more: object = {}) =>
        newEvent(id, { lane, source: "chat", account: "work", ...more });
      await acceptAll(
        store,
        from("a", "chat:work:7"),
        from("b", "chat:work:7:3"),
        from("c", "chat:work:7\tcontrol", { at: start + 50 }),
        from("d", "chat:work:70"),
        from("e", "letters:work:7", { source: "letters", at: start + 50 }),
        newEvent("hook", { lane: "hook:x", source: "hooks" }),
        newEvent("tick", { lane: "main", source: "heartbeat" }),
        newEvent("held", { lane: "main", source: "hooks", gather: { key: "k", due: null } }),
      );
      const ended = { ...answered, at: start };
      const by = (sender: string) => ({ ...decision("message"), detail: `chat: Ann (9) in "8"`, sender });
      await store.settle({
        ...ended,
        unitId: (await take(store, "chat:work:7")).id,
        decisions: [decision("x"), by("8")],
      });
      await store.settle({ ...ended, unitId: (await take(store, "letters:work:7")).id, decisions: [by("8")] });
      await store.settle({ ...ended, unitId: (await take(store, "chat:work:70")).id, decisions: [by("9")] });
      // Sent to chat 7 of the channel `chat`.
      await say(store, (await take(store, "hook:x")).id, ["done"]);
      await store.settle({ ...ended, unitId: "hook", decisions: [] });
      const ids = async (filter: Partial<Parameters<typeof store.events>[0]>) =>
        (await store.events({ limit: 10, ...filter })).map((event) => event.id);
      expect(await ids({ chat: { channel: "chat", id: "7" } })).toEqual(["hook", "c", "b", "a"]);
      expect(await ids({ chat: { id: "7" } })).toEqual(["hook", "e", "c", "b", "a"]);
      expect(await ids({ sender: { id: "8" } })).toEqual(["e", "a"]);
      expect(await ids({ sender: { channel: "chat", id: "8" }, oldestFirst: true })).toEqual(["a"]);
      expect(await ids({ sender: { id: "9" } })).toEqual(["d"]);
      expect((await store.event("a"))?.decisions[1]).toEqual(by("8"));
      expect(await ids({ since: start + 50 })).toEqual(["e", "c"]);
      expect(await ids({ bodyContains: "body of a" })).toEqual(["a"]);
      expect(await ids({ bodyContains: "%" })).toEqual([]);
      await take(store, "chat:work:7:3");
      expect(await ids({ open: true, includeInternal: true, oldestFirst: true })).toEqual(["b", "c", "tick", "held"]);
      expect(await ids({ open: true })).toEqual(["held", "c", "b"]);
      expect(await ids({ newerThan: "d", oldestFirst: true, limit: 2 })).toEqual(["e", "hook"]);
      expect(await ids({ olderThan: "hook", limit: 1 })).toEqual(["e"]);
      expect(await ids({ olderThan: "hook", within: 1 })).toEqual(["e"]);
      expect(await ids({ id: "a" })).toEqual(["a"]);
      expect(await ids({ id: "a", outcome: "refused" })).toEqual([]);
    }),
  );

  test(
    "the oldest head is the one that has been due longest; what never becomes due does not count",
    withStore(async ({ store }) => {
      const oldest = async () => (await store.stats()).oldestDueAt;
      await acceptAll(store, newEvent("never", { lane: "never", gather: { key: "g", due: Number.POSITIVE_INFINITY } }));
      await acceptAll(store, newEvent("held", { lane: "held", gather: { key: "g", due: null } }));
      expect(await oldest()).toBeUndefined();
      await acceptAll(store, newEvent("later", { lane: "later", gather: { key: "g", due: start + 900 } }));
      expect(await oldest()).toBe(start + 900);
      await acceptAll(
        store,
        newEvent("a", { at: start + 5 }),
        newEvent("b", { at: start + 6 }),
        newEvent("c", { lane: "c", at: start + 7 }),
      );
      expect(await oldest()).toBe(start + 5);
      await take(store);
      expect(await oldest()).toBe(start + 6);
      await settle(store, "a");
      await settle(store, (await take(store)).id);
      expect(await oldest()).toBe(start + 7);
    }),
  );

  test(
    "a missing event reads as null",
    withStore(async ({ store }) => {
      expect(await store.event("none")).toBeNull();
      expect(await store.body("none")).toBeNull();
      expect(await store.waitingLanes()).toEqual([]);
      expect(await store.stats()).toEqual({
        waiting: 0,
        running: 0,
        outboxWaiting: 0,
        settled: { answered: 0, silent: 0, refused: 0, failed: 0 },
      });
    }),
  );
}
