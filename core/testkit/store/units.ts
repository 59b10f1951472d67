import { describe, expect, test } from "vitest";
import {
  acceptAll,
  address,
  answered,
  decision,
  idsOf,
  newEvent,
  say,
  settle,
  start,
  take,
  type WithStore,
} from "./fixture.ts";

export function unitRules(withStore: WithStore): void {
  describe("lanes", () => laneRules(withStore));
  describe("gathering", () => gatherRules(withStore));
  describe("ends", () => endRules(withStore));
}

function laneRules(withStore: WithStore): void {
  test(
    "events of a lane are taken one at a time, in the order of their arrival",
    withStore(async ({ store }) => {
      await Promise.all(["a", "b", "c"].map((id) => store.accept(newEvent(id))));
      for (const id of ["a", "b", "c"]) {
        const unit = await take(store);
        expect(unit).toMatchObject({ id, lane: "lane", attempts: 1, stage: "turn" });
        expect(await store.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: null });
        await settle(store, unit.id);
      }
      expect(await store.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: null });
    }),
  );

  test(
    "a taken unit says whether others of its lane wait",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"), newEvent("b"), newEvent("c", { lane: "another" }));
      expect(await store.claim("lane", { now: start, limit: 50 })).toMatchObject({ unit: { id: "a" }, others: true });
      await settle(store, "a");
      expect(await store.claim("lane", { now: start, limit: 50 })).toMatchObject({ unit: { id: "b" }, others: false });
    }),
  );

  test(
    "an event accepted with `claim` is taken at once if its lane is idle, as by a separate claim",
    withStore(async ({ store, reopen }) => {
      const accepted = await store.accept(
        newEvent("a", { claim: true, dedupeKey: "k", gather: { key: "g", due: start } }),
      );
      expect(accepted).toMatchObject({
        eventId: "a",
        duplicate: false,
        unit: { id: "a", lane: "lane", attempts: 1, stage: "turn" },
      });
      expect(accepted.unit?.events).toMatchObject([
        { id: "a", acceptedAt: start, attempts: 1, body: { text: "body of a" } },
      ]);
      expect(await store.stats()).toMatchObject({ waiting: 0, running: 1 });
      expect(await store.accept(newEvent("a2", { claim: true, dedupeKey: "k" }))).toMatchObject({
        eventId: "a",
        duplicate: true,
      });
      const second = await reopen();
      expect(await second.begin(start)).toMatchObject({ resumed: 1 });
      expect(await take(second)).toMatchObject({
        id: "a",
        attempts: 2,
        events: accepted.unit?.events.map((event) => ({ ...event, attempts: 2 })),
      });
    }),
  );

  test(
    "an event accepted with `claim` still waits for running and waiting events of its lane, and for the " +
      "events of its group",
    withStore(async ({ store }) => {
      expect((await store.accept(newEvent("a", { claim: true }))).unit?.id).toBe("a");
      expect(await store.accept(newEvent("b", { claim: true }))).toEqual({ eventId: "b", duplicate: false });
      await settle(store, "a");
      expect((await store.accept(newEvent("c", { claim: true }))).unit).toBeUndefined();
      expect((await take(store)).id).toBe("b");

      await store.accept(newEvent("d", { lane: "gathers", gather: { key: "g", due: null } }));
      expect(
        (await store.accept(newEvent("e", { lane: "gathers", claim: true, gather: { key: "g", due: start } }))).unit,
      ).toBeUndefined();
      expect(idsOf(await take(store, "gathers"))).toEqual(["d", "e"]);
    }),
  );

  test(
    "lanes do not wait for each other",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", { lane: "one" }), newEvent("b", { lane: "two" }));
      expect((await take(store, "one")).id).toBe("a");
      expect((await take(store, "two")).id).toBe("b");
      expect((await store.stats()).running).toBe(2);
    }),
  );

  test(
    "a lane waits for its first event to be due, and says when that is",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", { gather: { key: "g", due: start + 500 } }), newEvent("b"));
      expect(await store.claim("lane", { now: start + 499, limit: 50 })).toEqual({ unit: null, due: start + 500 });
      expect((await take(store, "lane", start + 500)).id).toBe("a");
    }),
  );
}

function gatherRules(withStore: WithStore): void {
  const g = (due: number | null) => ({ gather: { key: "g", due } });

  test(
    "gathered events are one unit, led by the first, at the time of the first",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", g(start + 100)), newEvent("b", g(start + 900)));
      expect(await store.claim("lane", { now: start + 99, limit: 50 })).toEqual({ unit: null, due: start + 100 });
      expect(idsOf(await take(store, "lane", start + 100))).toEqual(["a", "b"]);
    }),
  );

  test(
    "an event that extends sets the due time of its whole key to its own",
    withStore(async ({ store }) => {
      const extending = (due: number) => ({ gather: { key: "g", due, extend: true as const } });
      await acceptAll(
        store,
        newEvent("a", extending(start + 100)),
        newEvent("b", extending(start + 900)),
        newEvent("c", extending(start + 400)),
      );
      expect(await store.claim("lane", { now: start + 399, limit: 50 })).toEqual({ unit: null, due: start + 400 });
      const unit = await take(store, "lane", start + 400);
      expect(unit.id).toBe("a");
      expect(idsOf(unit)).toEqual(["a", "b", "c"]);
      expect(unit.events.map((event) => event.gather?.due)).toEqual([start + 100, start + 900, start + 400]);
    }),
  );

  test(
    "events of another key or lane are not gathered, and keep their own due time",
    withStore(async ({ store }) => {
      await acceptAll(
        store,
        newEvent("a", g(start)),
        newEvent("b", { gather: { key: "h", due: start + 900 } }),
        newEvent("c", { lane: "other", ...g(start + 900) }),
        newEvent("d"),
        newEvent("e", g(start)),
      );
      expect(idsOf(await take(store))).toEqual(["a", "e"]);
      await settle(store, "a");
      expect(await store.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: start + 900 });
    }),
  );

  test(
    "an event without a due time starts no unit, blocks no other event, and joins the next unit of its key",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("quiet", g(null)));
      expect(await store.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: null });
      await acceptAll(store, newEvent("plain"));
      expect(idsOf(await take(store))).toEqual(["plain"]);
      await settle(store, "plain");
      await acceptAll(store, newEvent("tick", g(start + 50)), newEvent("quiet-too", g(null)));
      expect(await store.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: start + 50 });
      const unit = await take(store, "lane", start + 50);
      expect(unit.id).toBe("quiet");
      expect(idsOf(unit)).toEqual(["quiet", "tick", "quiet-too"]);
    }),
  );

  test(
    "a unit has at most `limit` events, the oldest first; the others wait",
    withStore(async ({ store }) => {
      const quiet = ["q1", "q2", "q3", "q4"];
      await acceptAll(store, ...quiet.map((id) => newEvent(id, g(null))), newEvent("tick", g(start)));
      const unit = await take(store, "lane", start, 3);
      expect(idsOf(unit)).toEqual(["q1", "q2", "tick"]);
      await settle(store, unit.id);
      await acceptAll(store, newEvent("next", g(start)));
      const rest = await take(store, "lane", start, 3);
      expect(idsOf(rest)).toEqual(["q3", "q4", "next"]);
    }),
  );

  test(
    "an event that arrives while its key runs waits for the next unit",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", g(start)));
      const unit = await take(store);
      await acceptAll(store, newEvent("b", g(start)));
      await settle(store, unit.id);
      expect((await store.event("b"))?.state).toBe("waiting");
      expect(idsOf(await take(store))).toEqual(["b"]);
    }),
  );
}

function endRules(withStore: WithStore): void {
  test(
    "a settlement ends all events of its unit, once",
    withStore(async ({ store }) => {
      const gather = { key: "g", due: start };
      await acceptAll(store, newEvent("a", { gather }), newEvent("b", { gather }));
      const unit = await take(store);
      const end = { unitId: unit.id, at: start + 5, decisions: [decision("ended")], sessionKey: "s", agentId: "main" };
      expect(await store.settle({ ...end, outcome: "refused", reason: "not_allowed" })).toBe(true);
      expect(await store.settle({ ...end, outcome: "failed", reason: "again" })).toBe(false);
      for (const id of ["a", "b"]) {
        expect(await store.event(id)).toEqual({
          id,
          source: "hooks",
          kind: "agent",
          lane: "lane",
          acceptedAt: start,
          state: "settled",
          attempts: 1,
          unitId: "a",
          outcome: "refused",
          reason: "not_allowed",
          settledAt: start + 5,
          sessionKey: "s",
          agentId: "main",
          decisions: [decision("ended")],
        });
      }
      expect(await store.stats()).toEqual({
        waiting: 0,
        running: 0,
        outboxWaiting: 0,
        settled: { answered: 0, silent: 0, refused: 2, failed: 0 },
      });
    }),
  );

  test(
    "the reply is stored with the outcome, even if the process is killed between the turn and its end",
    withStore(async ({ store, reopen }) => {
      const ending = { ...answered, reply: "It was the disk." };
      await acceptAll(store, newEvent("a"), newEvent("b"));
      await take(store);
      await store.settle({ ...ending, unitId: "a", at: start, decisions: [] });
      expect(await store.event("a")).toMatchObject({ state: "settled", reply: "It was the disk." });
      await take(store);
      await store.say({ unitId: "b", at: start, rows: [], ending, transcript: { sessionKey: "s", messages: [] } });
      expect(await store.event("b")).not.toHaveProperty("reply");
      const later = await reopen();
      await later.begin(start);
      expect((await take(later)).ending).toEqual(ending);
    }),
  );

  test(
    "the last sent row is recorded with the end, also for a unit that has already ended",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"), newEvent("b", { lane: "another" }));
      for (const [lane, messageId] of [
        ["lane", "m1"],
        ["another", "m2"],
      ] as const) {
        const unit = await take(store, lane);
        const [row] = await say(store, unit.id, ["Hello."]);
        const sent = { rowId: row?.id ?? 0, receipt: { messageId }, at: start };
        if (lane === "another") await settle(store, unit.id);
        expect(await store.settle({ unitId: unit.id, at: start, ...answered, decisions: [], sent })).toBe(
          lane === "lane",
        );
        expect(await store.unsent(unit.id)).toEqual([]);
      }
      const { channel, account, chat } = address;
      expect(await store.findSent({ channel, account, chat, messageId: "m1" })).toMatchObject({
        unitId: "a",
        thread: "3",
      });
      expect((await store.stats()).outboxWaiting).toBe(0);
    }),
  );

  test(
    "a unit that does not run cannot be settled",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      expect(await settle(store, "a")).toBe(false);
      expect(await settle(store, "nobody")).toBe(false);
      expect((await store.event("a"))?.state).toBe("waiting");
    }),
  );

  test(
    "decisions are kept in the order in which they were made",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await store.handBack("a", { due: 0, decisions: [decision("one"), decision("two")] });
      await take(store);
      await store.handBack("a", { due: 0, decisions: [] });
      await take(store);
      await store.handBack("a", { due: 0, decisions: [decision("three")] });
      await take(store);
      await store.settle({ unitId: "a", at: start, ...answered, decisions: [decision("four")] });
      expect((await store.event("a"))?.decisions.map(({ code }) => code)).toEqual(["one", "two", "three", "four"]);
    }),
  );

  test(
    "only a settled event can be put back, with its attempts at zero",
    withStore(async ({ store }) => {
      const gather = { key: "g", due: null };
      await acceptAll(store, newEvent("quiet", { gather }), newEvent("tick", { gather: { key: "g", due: start } }));
      expect(await store.replay("tick", start)).toBe(false);
      expect(await store.replay("nobody", start)).toBe(false);
      await settle(store, (await take(store)).id);
      expect(await store.replay("quiet", start + 10)).toBe(true);
      expect(await store.replay("quiet", start + 10)).toBe(false);
      expect(await store.event("tick")).toMatchObject({ state: "settled", outcome: "answered", unitId: "quiet" });
      expect(await store.event("quiet")).toMatchObject({ state: "waiting", attempts: 0, decisions: [] });
      expect(await store.stats()).toMatchObject({ waiting: 1, settled: { answered: 1 } });
      const again = await take(store, "lane", start + 10);
      expect(again).toMatchObject({ id: "quiet", attempts: 1, stage: "turn" });
      await settle(store, again.id);
      expect(await store.stats()).toMatchObject({ waiting: 0, running: 0, settled: { answered: 2 } });
    }),
  );
}
