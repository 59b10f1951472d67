/** Queues of events that cause no turn of their own: each key's queue is bounded, and dropped events are counted. */
import { expect, test } from "vitest";
import { queuePrefix } from "../../state/index.ts";
import { answered, idsOf, newEvent, start, take, textPart, type WithStore } from "./fixture.ts";

const key = `${queuePrefix}main`;
const day = 24 * 60 * 60_000;
const waits = (index: number, words: Parameters<typeof newEvent>[1] = {}) =>
  newEvent(`e${index}`, { gather: { key, due: null }, ...words });
const tick = (id: string, due = start) => {
  const { event, ...rest } = newEvent(id, { gather: { key, due } });
  return { ...rest, event: { ...event, body: {} } };
};
const queue = { lane: "lane", key };
/** A person's message, in the lane of its chat. */
const message = (id: string) => newEvent(id, { lane: "chat" });
const failed = { outcome: "failed", reason: "model_unavailable", decisions: [], at: start } as const;

export function queueRules(withStore: WithStore): void {
  test(
    "a unit takes the newest fifty, the others end as left out, and the count stays until a turn has reported it",
    withStore(async ({ store, clock }) => {
      await Promise.all(Array.from({ length: 120 }, (_, index) => store.accept(waits(index))));
      await store.accept(tick("tick"));
      const unit = await take(store);
      expect(idsOf(unit)).toEqual([...Array.from({ length: 50 }, (_, index) => `e${index + 70}`), "tick"]);
      expect(unit.events[0]?.leftOut).toBe(70);
      expect(await store.event("e69")).toMatchObject({ state: "settled", outcome: "silent", reason: "left_out" });
      expect(await store.stats()).toMatchObject({ waiting: 0, running: 51, settled: { silent: 70 } });

      await store.requeue({ ...failed, unitId: unit.id });
      expect(await store.event("tick")).toMatchObject({
        state: "settled",
        outcome: "failed",
        reason: "model_unavailable",
      });
      expect(await store.claim("lane", { now: clock.now, limit: 50 })).toEqual({ unit: null, due: null });
      await store.accept(tick("tock"));
      const again = await take(store);
      expect(idsOf(again)).toHaveLength(51);
      expect(again).toMatchObject({
        attempts: 1,
        events: [{ id: "e70", leftOut: 70 }, ...Array.from({ length: 50 }, () => ({}))],
      });

      await store.leftOutReported(key, 70);
      await store.settle({ ...answered, unitId: again.id, at: start, decisions: [] });
      await Promise.all([store.accept(waits(200)), store.accept(tick("third"))]);
      expect((await take(store)).events[0]?.leftOut).toBeUndefined();
    }),
  );

  test(
    "an event that asked for the turn itself is always taken, and waits like the others when the turn fails",
    withStore(async ({ store }) => {
      await store.accept(newEvent("now", { gather: { key, due: start } }));
      await Promise.all(Array.from({ length: 60 }, (_, index) => store.accept(waits(index))));
      const unit = await take(store);
      expect(idsOf(unit)).toEqual(["now", ...Array.from({ length: 49 }, (_, index) => `e${index + 11}`)]);
      await store.requeue({ ...failed, unitId: unit.id });
      expect(await store.event("now")).toMatchObject({ state: "waiting" });
      expect(await store.stats()).toMatchObject({ waiting: 50, running: 0, settled: { silent: 11 } });
    }),
  );

  test(
    "a unit has at most 20,000 characters of text, the newest; a longer event is a unit of its own",
    withStore(async ({ store }) => {
      const long = (index: number, length: number) => {
        const { event, ...rest } = waits(index);
        return { ...rest, event: { ...event, body: { text: "x".repeat(length) } } };
      };
      for (let index = 0; index < 5; index += 1) await store.accept(long(index, 6_000));
      await store.accept(tick("tick"));
      const unit = await take(store);
      expect(idsOf(unit)).toEqual(["e2", "e3", "e4", "tick"]);
      await store.settle({ ...answered, unitId: unit.id, at: start, decisions: [] });
      await store.accept(long(5, 10));
      await store.accept(long(6, 30_000));
      await store.accept(tick("tock"));
      expect(idsOf(await take(store))).toEqual(["e6", "tock"]);
    }),
  );

  test(
    "at most a thousand events wait, and none for longer than seven days",
    withStore(async ({ store, clock }) => {
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(Array.from({ length: 500 }, (_, index) => store.accept(waits(round * 500 + index))));
        expect((await store.stats()).waiting).toBeLessThanOrEqual(1_000);
      }
      const { waiting, settled } = await store.stats();
      expect(waiting + settled.silent).toBe(2_500);
      expect(await store.event("e2499")).toMatchObject({ state: "waiting" });
      clock.now += 8 * day;
      await store.accept(waits(2_500, { at: clock.now }));
      await store.prune({ now: clock.now, keepEventsMs: 7 * day, keepEvents: 1_000, keepSentMs: day });
      expect(await store.stats()).toMatchObject({ waiting: 1, settled: { silent: 2_500 } });
      await store.accept(tick("tick", clock.now));
      const unit = await take(store, "lane", clock.now);
      expect(idsOf(unit)).toEqual(["e2500", "tick"]);
      expect(unit.events[0]?.leftOut).toBe(2_500);
    }),
  );

  test(
    "a unit of another lane takes the newest events with a text, and they end with it; ticks still wait for " +
      "a unit of the queue",
    withStore(async ({ store, reopen }) => {
      await Promise.all(Array.from({ length: 60 }, (_, index) => store.accept(waits(index))));
      await store.accept(newEvent("now", { gather: { key, due: start + 250 } }));
      await store.accept(tick("tick", start + 250));
      await store.accept(message("hello"));
      await take(store, "chat");
      expect(await store.queueWaits(queue)).toBe(true);
      const events = await store.takeQueued("hello", { queue, now: start });
      expect(events.map(({ id }) => id)).toEqual([
        ...Array.from({ length: 49 }, (_, index) => `e${index + 11}`),
        "now",
      ]);
      expect(events[0]?.leftOut).toBe(11);
      expect(await store.queueWaits(queue)).toBe(false);
      expect(await store.takeQueued("hello", { queue, now: start })).toEqual([]);
      expect(idsOf(await take(store, "lane", start + 250))).toEqual(["tick"]);

      const rows = [
        { address: { channel: "c", account: "a", chat: "1" }, operation: "send", part: textPart("yes") },
      ] as const;
      const ending = { ...answered, sessionKey: "session", agentId: "main" };
      const messages = [{ role: "user", content: "hello", at: start, unitId: "hello" }] as const;
      await store.say({
        unitId: "hello",
        at: start,
        rows,
        ending,
        tookQueued: true,
        transcript: { sessionKey: "session", messages },
      });
      const later = await reopen();
      await later.begin(start + 300);
      await take(later, "lane", start + 300);
      const again = await take(later, "chat");
      expect(again).toMatchObject({ id: "hello", stage: "delivery" });
      expect(again.events).toHaveLength(51);
      await later.settle({ ...answered, unitId: "hello", at: start, decisions: [] });
      expect(await later.event("now")).toMatchObject({ outcome: "answered" });
      expect(await later.event("e11")).toMatchObject({ outcome: "answered" });
      expect(await later.stats()).toMatchObject({ waiting: 0, running: 1, settled: { answered: 51, silent: 11 } });
    }),
  );

  test.each(["hands its unit back", "says an apology", "ends without a reply", "dies"] as const)(
    "a turn that %s returns its events to the queue, each at its place and with its due time",
    async (how) => {
      await withStore(async ({ store, reopen }) => {
        await store.accept(waits(1));
        await store.accept(newEvent("now", { gather: { key, due: start + 250 } }));
        await store.accept(message("hello"));
        await take(store, "chat");
        expect(await store.takeQueued("hello", { queue, now: start })).toHaveLength(2);
        const unread = { outcome: "failed", reason: "model_unavailable", unread: true } as const;
        let left = store;
        if (how === "hands its unit back") await store.handBack("hello", { due: start });
        else if (how === "dies") {
          left = await reopen();
          await left.begin(start);
        } else {
          const rows = [
            { address: { channel: "c", account: "a", chat: "1" }, operation: "send", part: textPart("Sorry") },
          ] as const;
          if (how === "says an apology")
            await store.say({ unitId: "hello", at: start, rows, ending: unread, tookQueued: true });
          else await store.settle({ ...unread, unitId: "hello", at: start, decisions: [] });
        }
        expect(await left.queueWaits(queue)).toBe(true);
        expect(await left.claim("lane", { now: start, limit: 50 })).toEqual({ unit: null, due: start + 250 });
        expect(idsOf(await take(left, "lane", start + 250))).toEqual(["e1", "now"]);
        if (how === "says an apology") await left.settle({ ...unread, unitId: "hello", at: start, decisions: [] });
        expect(await left.event("now")).toMatchObject({ state: "running" });
      })();
    },
  );

  test(
    "an event that ended the process is not taken in the last attempt of a unit, nor after three attempts of its own",
    withStore(async ({ store, reopen }) => {
      await store.accept(waits(1));
      await store.accept(message("one"));
      await store.accept(message("two"));
      const taken: number[] = [];
      let open = store;
      for (const id of ["one", "one", "one", "two", "two"]) {
        expect((await take(open, "chat")).id).toBe(id);
        taken.push((await open.takeQueued(id, { queue, now: start })).length);
        if (taken.length === 3) await open.settle({ ...answered, unitId: id, at: start, decisions: [] });
        else {
          open = await reopen();
          await open.begin(start);
        }
      }
      expect(taken).toEqual([1, 1, 0, 1, 0]);
      await open.accept(tick("tick"));
      expect(await take(open)).toMatchObject({ attempts: 4 });
    }),
  );
}
