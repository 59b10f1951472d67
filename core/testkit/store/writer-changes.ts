import { expect, test } from "vitest";
import { deletedBody, forgottenPart, readEdited, type SessionMessage } from "../../state/index.ts";
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

const edit = (words: string) => ({ key: `key of ${words}`, body: { text: words } });
const gone = deletedBody({ chat: "7", sender: "8", messageId: "9" });
const user = (content: string): SessionMessage => ({ role: "user", content, at: start });
const { channel, account, chat } = address;

export function writerChangeRules(withStore: WithStore): void {
  test(
    "an edit takes the place of a message that waits, and a later one the place of that",
    withStore(async ({ store, reopen }) => {
      await acceptAll(store, newEvent("a", { dedupeKey: "key", dedupeUntil: start + 1_000 }));
      expect(await store.editWaiting(["other", "key"], edit("once"))).toBe(true);
      expect(await store.editWaiting(["key"], edit("twice"))).toBe(true);
      // A repetition of an earlier one does not become the newest.
      expect(await store.editWaiting(["key"], edit("once"))).toBe(true);
      const edited = { original: { text: "body of a" }, edits: [edit("once"), edit("twice")] };
      expect(readEdited((await (await reopen()).body("a")) ?? null)).toEqual(edited);
      expect(readEdited((await take(store)).events[0]?.body ?? null)).toEqual(edited);
      expect(await store.editWaiting(["key"], edit("late"))).toBe(false);
    }),
  );

  test(
    "an edit changes no message that is unknown, has begun a turn, waits for another attempt, has ended or was deleted",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a", { dedupeKey: "key", dedupeUntil: start + 1_000 }));
      expect(await store.editWaiting(["other"], edit("x"))).toBe(false);
      await take(store);
      expect(await store.editWaiting(["key"], edit("x"))).toBe(false);
      await store.handBack("a", { due: start, uncount: true });
      expect(await store.editWaiting(["key"], edit("x"))).toBe(false);
      await take(store);
      await settle(store, "a");
      expect(await store.editWaiting(["key"], edit("x"))).toBe(false);
      expect(await store.body("a")).toEqual({ text: "body of a" });
      await acceptAll(store, newEvent("b", { dedupeKey: "second", dedupeUntil: start + 1_000 }));
      await store.redactEvents(["b"], gone);
      expect(await store.editWaiting(["second"], edit("x"))).toBe(false);
      expect(await store.body("b")).toEqual(gone);
    }),
  );

  test(
    "the bodies of events are replaced in every state; order, gathering and repetitions stay",
    withStore(async ({ store, reopen }) => {
      const gather = { key: "album", due: start };
      const key = { dedupeKey: "key", dedupeUntil: start + 1_000, fingerprint: "print" };
      await acceptAll(store, newEvent("a", { gather, ...key }), newEvent("b", { gather }), newEvent("c"));
      await store.redactEvents(["a", "unknown"], gone);
      expect((await take(store)).events.map(({ id, body }) => [id, body])).toEqual([
        ["a", gone],
        ["b", { text: "body of b" }],
      ]);
      expect(await store.first("key")).toEqual({ eventId: "a" });
      await store.redactEvents(["b"], gone);
      await settle(store, "a");
      const unit = await store.unitOf("b");
      expect(unit.map(({ id, body }) => [id, body])).toEqual([
        ["a", gone],
        ["b", gone],
      ]);
      expect((await store.unitOf("c")).map(({ id, body }) => [id, body])).toEqual([["c", { text: "body of c" }]]);
      expect(await store.unitOf("unknown")).toEqual([]);
      await take(store);
      await settle(store, "c");
      await store.redactEvents(["c"], gone);
      expect(await (await reopen()).body("c")).toEqual(gone);
      expect(await store.event("c")).toMatchObject({ outcome: "answered" });
    }),
  );

  test(
    "messages are searched for in the conversations of one session, the older ones included",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      await say(store, "a", [], [user("message:7 first")]);
      await settle(store, "a");
      await store.updateSession("session", { agentId: "main", at: start, newGeneration: true });
      await acceptAll(store, newEvent("b"));
      await take(store);
      await say(store, "b", [], [user("second"), user("message:7 third")]);
      await settle(store, "b");
      const texts = async (session: string) =>
        (await store.messagesAbout({ text: "message:7", unitIds: ["b"], session })).map(({ content }) => content);
      expect(await texts("session")).toEqual(["message:7 first", "second", "message:7 third"]);
      expect(await texts("other")).toEqual([]);
    }),
  );

  test(
    "a part that is not sent can lose its content",
    withStore(async ({ store, reopen }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const [first, second] = await say(store, "a", ["secret", "other"]);
      await store.unsendable(first?.id ?? 0, { at: start, reason: "gone", forget: true });
      await store.unsendable(second?.id ?? 0, { at: start, reason: "gone" });
      const parts = await (await reopen()).partsTo({ channel, id: chat });
      expect(parts.map(({ part }) => part)).toEqual([forgottenPart, textPart("other")]);
    }),
  );

  test(
    "a sent message is found without its chat, and a decision is added to its unit once, whatever its end",
    withStore(async ({ store, clock, reopen }) => {
      await acceptAll(store, newEvent("a"));
      await take(store);
      const rows = await store.say({
        unitId: "a",
        at: start,
        rows: [
          { address, operation: "send", part: textPart("one") },
          { address: { channel, account, chat: "8" }, operation: "send", part: textPart("two") },
        ],
        ending: answered,
        decisions: [decision("said")],
      });
      for (const { id } of rows) await store.sent(id, { messageId: "5" }, { at: start });
      const read = { ...decision("message_read"), detail: "message 5" };
      expect(await store.addDecision("a", read)).toBe(true);
      await settle(store, "a");
      expect(await store.addDecision("a", read)).toBe(false);
      expect(await store.addDecision("a", { ...read, detail: "message 6" })).toBe(true);
      expect(await store.addDecision("unknown", read)).toBe(false);
      const later = await reopen();
      expect((await later.event("a"))?.decisions.map(({ code, detail }) => [code, detail])).toEqual([
        ["said", undefined],
        ["message_read", "message 5"],
        ["message_read", "message 6"],
      ]);
      expect(await later.event("a")).toMatchObject(answered);
      const found = await later.sentMessages({ channel, account, messageId: "5" });
      expect(found.toSorted((one, other) => one.chat.localeCompare(other.chat))).toEqual([
        { chat, thread: "3", unitId: "a" },
        { chat: "8", unitId: "a" },
      ]);
      expect(await later.sentMessages({ channel, account: "other", messageId: "5" })).toEqual([]);
      clock.now = start + 31 * 24 * 3_600_000;
      expect(await later.sentMessages({ channel, account, messageId: "5" })).toEqual([]);
    }),
  );
}
