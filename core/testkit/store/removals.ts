import { expect, test } from "vitest";
import type { SessionMessage, Store } from "../../state/index.ts";
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

const user = (content: string): SessionMessage => ({ role: "user", content, at: start });
const assistant = (content: string): SessionMessage => ({ role: "assistant", content, at: start });
const chat = { channel: address.channel, id: address.chat };
const elsewhere = { ...address, chat: "8" };

/** Runs an event that is answered with the given texts. */
async function turn(
  store: Store,
  id: string,
  texts: readonly string[],
  messages: readonly SessionMessage[] = [],
): Promise<void> {
  await acceptAll(
    store,
    newEvent(id, { dedupeKey: `key of ${id}`, dedupeUntil: start + 1_000, fingerprint: `print of ${id}` }),
  );
  await take(store);
  const rows = await say(store, id, texts, messages);
  for (const row of rows) {
    await store.sending(row.id);
    await store.sent(row.id, { messageId: `message ${row.id}` }, { at: start + 1 });
  }
  await store.settle({ unitId: id, at: start, ...answered, reply: `reply of ${id}`, decisions: [decision("done")] });
}

const contents = (messages: readonly SessionMessage[]) => messages.map(({ content }) => content);

export function removalRules(withStore: WithStore): void {
  test(
    "a session is deleted with its settings and all its conversations; another session stays",
    withStore(async ({ store, reopen }) => {
      await turn(store, "a", [], [user("1"), assistant("2")]);
      await store.updateSession("session", {
        agentId: "main",
        at: start,
        settings: { model: "a/b" },
        newGeneration: true,
      });
      await turn(store, "b", [], [user("3")]);
      await store.updateSession("other", { agentId: "main", at: start });
      expect(await store.deleteSession("session")).toEqual({ found: true, messages: 3 });
      expect(await store.deleteSession("session")).toEqual({ found: false, messages: 0 });
      const later = await reopen();
      expect(await later.session("session")).toBeNull();
      for (const generation of [0, 1]) expect(await later.transcript("session", { generation })).toEqual([]);
      expect((await later.sessionReports({ limit: 9 })).map(({ key }) => key)).toEqual(["other"]);
      await turn(store, "c", [], [user("4")]);
      expect(contents(await store.transcript("session"))).toEqual(["4"]);
    }),
  );

  test(
    "messages are found by their unit and by a text in them, in every conversation, the oldest first",
    withStore(async ({ store }) => {
      await turn(store, "a", [], [user("of id:7 first"), assistant("second")]);
      await store.updateSession("session", { agentId: "main", at: start, newGeneration: true });
      await turn(store, "b", [], [{ role: "user", content: { parts: ["id:7"] }, at: start + 1 }, assistant("fourth")]);
      const found = await store.messagesAbout({ text: "id:7", unitIds: [] });
      expect(found).toMatchObject([
        { session: "session", generation: 0, role: "user", at: start, content: "of id:7 first", unitId: "a" },
        { session: "session", generation: 1, role: "user", at: start + 1, content: { parts: ["id:7"] }, unitId: "b" },
      ]);
      expect(new Set(found.map(({ transcript }) => transcript)).size).toBe(2);
      expect((await store.messagesAbout({ text: "id:7", unitIds: ["a"] })).map(({ content }) => content)).toEqual([
        "of id:7 first",
        "second",
        { parts: ["id:7"] },
      ]);
      expect(await store.messagesAbout({ text: "id:70", unitIds: ["z"] })).toEqual([]);
    }),
  );

  test(
    "a transcript keeps its order when messages are removed or replaced; without messages it is deleted",
    withStore(async ({ store }) => {
      await turn(store, "a", [], [user("1"), assistant("2")]);
      await turn(store, "b", [], [user("3"), assistant("4")]);
      const found = await store.messagesAbout({ text: "", unitIds: [] });
      const [first, second, third] = found.map(({ id }) => id) as [number, number, number];
      const transcript = found[0]?.transcript ?? 0;
      await store.editTranscript({
        transcript,
        remove: [second],
        replace: [{ id: third, content: { parts: ["three"] } }],
      });
      expect(contents(await store.transcript("session"))).toEqual(["1", { parts: ["three"] }, "4"]);
      expect((await store.sessionReports({ limit: 1 }))[0]).toMatchObject({ messages: 3 });
      await turn(store, "c", [], [user("5")]);
      expect(contents(await store.transcript("session"))).toEqual(["1", { parts: ["three"] }, "4", "5"]);
      const rest = (await store.messagesAbout({ text: "", unitIds: [] })).map(({ id }) => id);
      await store.editTranscript({ transcript, remove: [...rest, first], replace: [] });
      expect(await store.transcript("session")).toEqual([]);
      expect(await store.sessionReports({ limit: 9 })).toEqual([]);
    }),
  );

  test(
    "messages sent to a chat are found and removed; unsent ones and those of other chats stay",
    withStore(async ({ store }) => {
      await turn(store, "a", ["one", "two"]);
      await acceptAll(store, newEvent("b"));
      await take(store);
      const ending = { ...answered, sessionKey: "session", agentId: "main" };
      const row = (to: typeof address, text: string) => ({
        address: to,
        operation: "send" as const,
        part: textPart(text),
      });
      await store.say({ unitId: "b", at: start, rows: [row(address, "waits"), row(elsewhere, "for another")], ending });
      await store.updateSession("session", { agentId: "main", at: start, lastRecipient: address });
      await store.updateSession("other", { agentId: "main", at: start, lastRecipient: elsewhere });
      expect(await store.partsTo(chat)).toEqual([
        { unitId: "a", part: textPart("one"), at: start + 1 },
        { unitId: "a", part: textPart("two"), at: start + 1 },
        { unitId: "b", part: textPart("waits") },
      ]);
      const where = { channel: address.channel, account: address.account, chat: address.chat };
      const messageId = (await store.sentBy("a"))[0]?.messageId ?? "";
      expect(await store.findSent({ ...where, messageId })).toMatchObject({ unitId: "a" });
      expect(await store.removeSentTo(chat)).toEqual({ parts: 2, messageIds: 2, recipients: 1 });
      expect(await store.findSent({ ...where, messageId })).toBeNull();
      expect((await store.partsTo(chat)).map(({ part }) => part)).toEqual([textPart("waits")]);
      expect((await store.unsent("b")).map(({ part }) => part)).toEqual([textPart("waits"), textPart("for another")]);
      expect(await store.session("session")).not.toHaveProperty("lastRecipient");
      expect(await store.session("other")).toMatchObject({ lastRecipient: elsewhere });
    }),
  );

  test(
    "settled events are removed with body, decisions and parts; open ones stay; a repetition is still a duplicate",
    withStore(async ({ store, reopen }) => {
      for (const id of ["a", "b"]) await turn(store, id, [`to ${id}`]);
      await acceptAll(store, newEvent("waits", { lane: "other" }), newEvent("runs"));
      await take(store);
      expect(await store.removeEvents(["a", "b", "waits", "runs", "unknown"])).toBe(2);
      const later = await reopen();
      for (const id of ["a", "b"]) {
        const left = await later.event(id);
        expect({ decisions: left?.decisions ?? [], reply: left?.reply }).toEqual({ decisions: [], reply: undefined });
        expect(await later.body(id)).toBeNull();
        expect(await later.first(`key of ${id}`)).toEqual({ eventId: id });
        expect(
          await later.accept(newEvent(`${id} again`, { dedupeKey: `key of ${id}`, dedupeUntil: start + 1_000 })),
        ).toMatchObject({
          duplicate: true,
        });
      }
      expect(await later.partsTo(chat)).toEqual([]);
      expect((await later.events({ limit: 9, open: true })).map(({ id }) => id).sort()).toEqual(["runs", "waits"]);
    }),
  );

  test(
    "the newest event may be removed: later events are still newer than earlier ones",
    withStore(async ({ store, reopen }) => {
      for (const id of ["a", "b"]) await turn(store, id, []);
      expect(await store.removeEvents(["b"])).toBe(1);
      expect(await store.body("b")).toBeNull();
      const later = await reopen();
      await later.begin(start);
      await turn(later, "c", []);
      expect((await later.events({ limit: 9, newerThan: "a" })).map(({ id }) => id)).toContain("c");
      expect((await later.events({ limit: 1 })).map(({ id }) => id)).toEqual(["c"]);
    }),
  );

  test(
    "removing the leading event of a unit removes its decisions and replies; the other events keep their outcome",
    withStore(async ({ store }) => {
      const gather = { key: "together", due: start };
      await acceptAll(store, newEvent("a", { gather }), newEvent("b", { gather }));
      const unit = await take(store);
      expect(unit.events).toHaveLength(2);
      await say(store, unit.id, ["an answer"]);
      await store.settle({
        unitId: unit.id,
        at: start,
        ...answered,
        reply: "an answer",
        decisions: [decision("done")],
      });
      expect(await store.event("b")).toMatchObject({ unitId: "a", reply: "an answer" });
      expect(await store.removeEvents(["a"])).toBe(1);
      const left = await store.event("b");
      expect(left).toMatchObject({ state: "settled", outcome: "answered", decisions: [] });
      expect(left).not.toHaveProperty("reply");
      expect(await store.body("b")).toEqual({ text: "body of b" });
    }),
  );

  test(
    "rows of every namespace are found by a text in their key or value",
    withStore(async ({ store }) => {
      await store.set("plugin:a", "seen:7", 1);
      await store.set("plugin:b", "greeted", { chat: "7" });
      await store.set("plugin:b", "other", { chat: "8" });
      expect(await store.rowsAbout("7")).toEqual([
        { namespace: "plugin:a", key: "seen:7", value: 1 },
        { namespace: "plugin:b", key: "greeted", value: { chat: "7" } },
      ]);
      expect(await store.rowsAbout("%")).toEqual([]);
    }),
  );

  test(
    "a second removal finds nothing to remove",
    withStore(async ({ store }) => {
      await turn(store, "a", ["one"], [user("1")]);
      await turn(store, "b", []);
      expect(await store.removeEvents(["a"])).toBe(1);
      expect(await store.removeEvents(["a"])).toBe(0);
      expect(await store.removeSentTo(chat)).toEqual({ parts: 0, messageIds: 1, recipients: 0 });
      expect(await store.removeSentTo(chat)).toEqual({ parts: 0, messageIds: 0, recipients: 0 });
      await settle(store, "a");
      expect(contents(await store.transcript("session"))).toEqual(["1"]);
    }),
  );
}
