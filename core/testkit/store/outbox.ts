import { expect, test } from "vitest";
import { realWait } from "../host/played-clock.ts";
import {
  acceptAll,
  address,
  answered,
  decision,
  newEvent,
  say,
  settle,
  start,
  take,
  textPart,
  type WithStore,
} from "./fixture.ts";

const day = 24 * 3_600_000;

export function outboxRules(withStore: WithStore): void {
  test(
    "the replies of a turn are in the outbox in order, the first row marked as sending",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const rows = await store.say({
        unitId: "a",
        at: start,
        rows: [
          { address, operation: "send", part: { ...textPart("one"), replaces: "5" } },
          { address: { channel: "chat", account: "default", chat: "8" }, operation: "remove", part: textPart("") },
        ],
        ending: answered,
        decisions: [decision("said")],
      });
      expect(rows).toMatchObject([
        {
          unitId: "a",
          index: 0,
          address,
          operation: "send",
          part: { replaces: "5" },
          state: "sending",
          attempts: 1,
          doubts: 0,
        },
        { unitId: "a", index: 1, operation: "remove", state: "waiting", attempts: 0 },
      ]);
      expect(await store.unsent("a")).toMatchObject(rows);
      expect((await store.stats()).outboxWaiting).toBe(2);
      expect((await store.event("a"))?.decisions).toEqual([decision("said")]);
    }),
  );

  test(
    "a row that was sent is found by its message, and the next is marked in the same step",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second] = await say(store, "a", ["one", "two"]);
      await store.sent(first?.id ?? 0, { messageId: "m1" }, { at: start, next: second?.id ?? 0 });
      expect(await store.unsent("a")).toMatchObject([{ id: second?.id, state: "sending", attempts: 1 }]);
      await store.sent(second?.id ?? 0, { messageId: "m2" }, { at: start });
      expect(await store.unsent("a")).toEqual([]);
      expect((await store.stats()).outboxWaiting).toBe(0);
      const { thread, ...where } = address;
      expect(await store.findSent({ ...where, messageId: "m1" })).toEqual({ unitId: "a", thread });
      expect(await store.findSent({ ...where, account: "other", messageId: "m1" })).toBeNull();
      expect(await store.findSent({ ...where, messageId: "m3" })).toBeNull();
    }),
  );

  test(
    "each message of a part that became several is recorded",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second] = await say(store, "a", ["album", "album"]);
      const receipt = (...messageIds: readonly [string, string]) => ({ messageId: messageIds[0], messageIds });
      await store.sent(first?.id ?? 0, receipt("m1", "m2"), { at: start, next: second?.id ?? 0 });
      const sent = { rowId: second?.id ?? 0, receipt: receipt("m3", "m4"), at: start };
      await store.settle({ ...answered, unitId: "a", at: start, decisions: [], sent });
      const { thread, ...where } = address;
      const ids = ["m1", "m2", "m3", "m4"];
      for (const messageId of ids)
        expect(await store.findSent({ ...where, messageId })).toEqual({ unitId: "a", thread });
      expect(await store.sentBy("a")).toEqual(ids.map((messageId) => ({ chat: address.chat, messageId })));
    }),
  );

  test(
    "no row is marked while the first one has to wait",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const rows = [1, 2].map((body) => ({ address, operation: "send" as const, part: textPart(String(body)) }));
      const addedRows = await store.say({ unitId: "a", at: start, rows, first: "waiting", ending: answered });
      expect(addedRows).toMatchObject([
        { index: 0, state: "waiting", attempts: 0 },
        { index: 1, state: "waiting", attempts: 0 },
      ]);
      expect(await store.unsent("a")).toEqual(addedRows);
    }),
  );

  test(
    "the reason of the first part that could not be sent is known until the unit ends",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second, third] = await say(store, "a", ["one", "two", "three"]);
      expect(await store.failedPart("a")).toBeNull();
      await store.sent(first?.id ?? 0, { messageId: "m1" }, { at: start });
      await store.unsendable(second?.id ?? 0, { at: start, reason: "too_long" });
      await store.unsendable(third?.id ?? 0, { at: start, reason: "blocked_by_user" });
      expect(await store.failedPart("a")).toBe("too_long");
    }),
  );

  test(
    "the sent messages of a unit are listed in order, also after its end, without removed and failed ones",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const part = (replaces?: string) => ({ ...textPart("x"), ...(replaces === undefined ? {} : { replaces }) });
      const rows = await store.say({
        unitId: "a",
        at: start,
        rows: [
          { address, operation: "send", part: part() },
          { address, operation: "send", part: part() },
          { address, operation: "remove", part: part("m9") },
          { address, operation: "send", part: part("m3") },
        ],
        ending: answered,
      });
      const [first, second, third, fourth] = rows.map(({ id }) => id);
      expect(await store.sentBy("a")).toEqual([]);
      await store.sent(first ?? 0, { messageId: "m1" }, { at: start });
      await store.unsendable(second ?? 0, { at: start, reason: "gone" });
      await store.sent(third ?? 0, { messageId: "m9" }, { at: start });
      await store.sent(fourth ?? 0, { messageId: "m3" }, { at: start });
      await settle(store, "a");
      const { chat } = address;
      expect(await store.sentBy("a")).toEqual([
        { chat, messageId: "m1" },
        { chat, messageId: "m3" },
      ]);
      expect(await store.sentBy("b")).toEqual([]);
    }),
  );

  test(
    "a message counts as sent as soon as its record was requested, whatever is accepted at the same time",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [row] = await say(store, "a", ["one"]);
      const recording = store.settle({
        unitId: "a",
        at: start,
        ...answered,
        decisions: [],
        sent: { rowId: row?.id ?? 0, receipt: { messageId: "m1" }, at: start },
      });
      const accepting = acceptAll(store, newEvent("b"));
      expect(await store.findSent({ ...address, messageId: "m1" })).toMatchObject({ unitId: "a" });
      await Promise.all([recording, accepting]);
    }),
  );

  test(
    "a removed message does not count as sent",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const part = { ...textPart(""), replaces: "m1" };
      const [row] = await store.say({
        unitId: "a",
        at: start,
        rows: [{ address, operation: "remove", part }],
        ending: answered,
      });
      await store.sent(row?.id ?? 0, { messageId: "m1" }, { at: start });
      expect(await store.unsent("a")).toEqual([]);
      expect(await store.findSent({ ...address, messageId: "m1" })).toBeNull();
    }),
  );

  test(
    "the store keeps sent messages for 30 days",
    withStore(async ({ store, clock }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [row] = await say(store, "a", ["one"]);
      await store.sent(row?.id ?? 0, { messageId: "m1" }, { at: start });
      clock.now = start + 30 * day;
      expect(await store.findSent({ ...address, messageId: "m1" })).not.toBeNull();
      clock.now += 1;
      expect(await store.findSent({ ...address, messageId: "m1" })).toBeNull();
    }),
  );

  test(
    "each attempt and each send of unknown fate is counted; a send that certainly did not happen is not in doubt",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [row] = await say(store, "a", ["one"]);
      const id = row?.id ?? 0;
      await store.notSent(id);
      expect(await store.unsent("a")).toMatchObject([{ state: "waiting", attempts: 1, doubts: 0 }]);
      await store.sending(id);
      expect(await store.unsent("a")).toMatchObject([{ state: "sending", attempts: 2, doubts: 0 }]);
      await store.doubted(id, { decisions: [decision("once")] });
      expect(await store.unsent("a")).toMatchObject([{ state: "waiting", attempts: 2, doubts: 1 }]);
      await store.sending(id);
      await store.doubted(id, { decisions: [decision("twice")] });
      expect(await store.unsent("a")).toMatchObject([{ state: "waiting", attempts: 3, doubts: 2 }]);
      await store.sent(id, { messageId: "m1" }, { at: start });
      await store.doubted(id, { decisions: [decision("too late")] });
      expect(await store.unsent("a")).toEqual([]);
      expect((await store.event("a"))?.decisions.map(({ code }) => code)).toEqual(["once", "twice"]);
    }),
  );

  test(
    "the time since the first attempt is counted over repetitions, until an attempt certainly had no effect",
    withStore(async ({ store, clock }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second] = await say(store, "a", ["one", "two"]);
      const sendingFor = async () => (await store.unsent("a")).map(({ sendingForMs }) => sendingForMs !== undefined);
      expect(await sendingFor()).toEqual([true, false]);
      clock.now += 60_000;
      await realWait(20);
      await store.sending(first?.id ?? 0);
      expect((await store.unsent("a"))[0]?.sendingForMs).toBeGreaterThan(15);
      await store.notSent(first?.id ?? 0);
      expect(await sendingFor()).toEqual([false, false]);
      await store.sent(first?.id ?? 0, { messageId: "m1" }, { at: clock.now, next: second?.id ?? 0 });
      expect(await sendingFor()).toEqual([true]);
      expect((await store.unsent("a"))[0]?.sendingForMs).toBeLessThan(30_000);
    }),
  );

  test(
    "a row that cannot be sent is skipped, and the others are sent",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second] = await say(store, "a", ["one", "two"]);
      await store.unsendable(first?.id ?? 0, { at: start, reason: "blocked_by_user" });
      expect((await store.unsent("a")).map(({ id }) => id)).toEqual([second?.id]);
      await store.sending(first?.id ?? 0);
      expect((await store.unsent("a")).map(({ id }) => id)).toEqual([second?.id]);
      expect((await store.stats()).outboxWaiting).toBe(1);
    }),
  );

  test(
    "no row waits after the end of its unit",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await say(store, "a", ["one", "two"]);
      await store.settle({ unitId: "a", at: start, outcome: "failed", reason: "gave_up", decisions: [] });
      expect(await store.unsent("a")).toEqual([]);
      expect((await store.stats()).outboxWaiting).toBe(0);
    }),
  );

  test(
    "only a running unit can send, and a replayed one sends again",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await expect(say(store, "a", ["early"])).rejects.toThrow();
      await take(store);
      await say(store, "a", ["once"]);
      await settle(store, "a");
      await expect(say(store, "a", ["late"])).rejects.toThrow();
      await store.replay("a", start);
      expect(await take(store)).toMatchObject({ stage: "turn" });
      expect(await say(store, "a", ["again"])).toMatchObject([{ index: 0, state: "sending" }]);
      expect(await store.unsent("a")).toMatchObject([{ part: textPart("again") }]);
    }),
  );

  test(
    "a turn may end without a reply: the delivery is then empty",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      expect(await say(store, "a", [])).toEqual([]);
      await store.handBack("a", { due: 0 });
      expect(await take(store)).toMatchObject({ stage: "delivery", ending: answered });
    }),
  );
}
