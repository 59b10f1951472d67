import { expect, test } from "vitest";
import type { SessionMessage } from "../../state/index.ts";
import { acceptAll, address, newEvent, say, settle, start, take, type WithStore } from "./fixture.ts";

const user = (content: string): SessionMessage => ({ role: "user", content, at: start });
const assistant = (content: string): SessionMessage => ({ role: "assistant", content, at: start });

export function sessionRules(withStore: WithStore): void {
  const speak = async (store: Parameters<typeof take>[0], id: string, messages: readonly SessionMessage[]) => {
    await acceptAll(store, newEvent(id));
    await take(store);
    await say(store, id, [], messages);
    await settle(store, id);
  };
  const contents = (messages: readonly SessionMessage[]) => messages.map(({ content }) => content);

  test(
    "a session is created by its first change; settings are merged and removed one by one",
    withStore(async ({ store }) => {
      expect(await store.session("s")).toBeNull();
      await store.updateSession("s", { agentId: "main", at: start, settings: { model: "a/b", verbose: true } });
      expect(await store.session("s")).toEqual({
        key: "s",
        agentId: "main",
        generation: 0,
        settings: { model: "a/b", verbose: true },
        updatedAt: start,
      });
      await store.updateSession("s", {
        agentId: "main",
        at: start + 1,
        settings: { model: null, thinking: "low" },
        lastRecipient: { ...address, senderId: "7" },
      });
      await store.updateSession("s", { agentId: "main", at: start + 2 });
      expect(await store.session("s")).toEqual({
        key: "s",
        agentId: "main",
        generation: 0,
        settings: { verbose: true, thinking: "low" },
        lastRecipient: { ...address, senderId: "7" },
        updatedAt: start + 2,
      });
    }),
  );

  test(
    "simultaneous changes of one session are all kept",
    withStore(async ({ store }) => {
      await Promise.all(
        ["a", "b", "c"].map((name) =>
          store.updateSession("s", { agentId: "main", at: start, settings: { [name]: 1 }, newGeneration: true }),
        ),
      );
      expect(await store.session("s")).toMatchObject({ generation: 3, settings: { a: 1, b: 1, c: 1 } });
    }),
  );

  test(
    "sessions with only a transcript are listed too, most recently used first, with the size of the current generation",
    withStore(async ({ store }) => {
      expect(await store.sessionReports({ limit: 9 })).toEqual([]);
      await acceptAll(store, newEvent("event"));
      await take(store);
      await say(store, "event", [], [user("1"), { ...assistant("2"), at: start + 5 }]);
      await store.settle({
        unitId: "event",
        at: start,
        outcome: "silent",
        reason: "test",
        agentId: "helper",
        decisions: [],
      });
      await store.updateSession("changed", {
        agentId: "main",
        at: start + 9,
        settings: { model: "a/b" },
        lastRecipient: address,
      });
      const changed = {
        key: "changed",
        agentId: "main",
        generation: 0,
        settings: { model: "a/b" },
        lastRecipient: address,
      };
      const spoken = { key: "session", agentId: "helper", generation: 0, settings: {} };
      expect(await store.sessionReports({ limit: 9 })).toEqual([
        { ...changed, messages: 0, updatedAt: start + 9 },
        { ...spoken, messages: 2, updatedAt: start + 5 },
      ]);
      expect(await store.sessionReports({ limit: 1 })).toMatchObject([{ key: "changed" }]);
      await store.updateSession("session", { agentId: "helper", at: start + 10, newGeneration: true });
      expect((await store.sessionReports({ limit: 1 }))[0]).toEqual({
        ...spoken,
        generation: 1,
        messages: 0,
        updatedAt: start + 10,
      });
      await speak(store, "later", [{ ...user("3"), at: start + 20 }]);
      expect((await store.sessionReports({ limit: 1 }))[0]).toEqual({
        ...spoken,
        generation: 1,
        messages: 1,
        updatedAt: start + 20,
      });
    }),
  );

  test(
    "sessions are listed, most recently used first",
    withStore(async ({ store }) => {
      await store.updateSession("old", { agentId: "main", at: start });
      await store.updateSession("new", { agentId: "main", at: start + 2 });
      await store.updateSession("middle", { agentId: "main", at: start + 1 });
      expect((await store.sessions({ limit: 2 })).map(({ key }) => key)).toEqual(["new", "middle"]);
    }),
  );

  test(
    "a transcript grows unit by unit, and is cut by user turns",
    withStore(async ({ store }) => {
      await speak(store, "a", [user("1"), assistant("2")]);
      await speak(store, "b", [user("3"), { role: "system", content: { parts: [1] }, at: start }, assistant("4")]);
      expect(await store.transcript("session")).toEqual([
        { ...user("1"), unitId: "a" },
        { ...assistant("2"), unitId: "a" },
        { ...user("3"), unitId: "b" },
        { role: "system", content: { parts: [1] }, at: start, unitId: "b" },
        { ...assistant("4"), unitId: "b" },
      ]);
      expect(contents(await store.transcript("session", { userTurns: 1 }))).toEqual(["3", { parts: [1] }, "4"]);
      expect(await store.transcript("session", { userTurns: 5 })).toHaveLength(5);
      expect(await store.transcript("session", { userTurns: 0 })).toEqual([]);
      expect(await store.transcript("other")).toEqual([]);
    }),
  );

  test(
    "a unit that runs again replaces its own messages",
    withStore(async ({ store }) => {
      await speak(store, "a", [user("1"), assistant("2")]);
      await store.replay("a", start);
      await take(store);
      await say(store, "a", [], [user("1"), assistant("better")]);
      expect(contents(await store.transcript("session"))).toEqual(["1", "better"]);
      await settle(store, "a");
      await store.replay("a", start);
      await take(store);
      await say(store, "a", [], []);
      expect(await store.transcript("session")).toEqual([]);
      expect(await store.sessionReports({ limit: 9 })).toEqual([]);
    }),
  );

  test(
    "the messages it replaces may be between others, or in an older generation",
    withStore(async ({ store }) => {
      for (const id of ["a", "b", "c"]) await speak(store, id, [user(id), assistant(`to ${id}`)]);
      const again = async (id: string) => {
        await store.replay(id, start);
        await take(store);
        await say(store, id, [], [user(id), assistant(`better to ${id}`)]);
        await settle(store, id);
      };
      await again("b");
      expect(contents(await store.transcript("session"))).toEqual(["a", "to a", "c", "to c", "b", "better to b"]);
      expect(contents(await store.transcript("session", { userTurns: 2 }))).toEqual(["c", "to c", "b", "better to b"]);
      await store.updateSession("session", { agentId: "main", at: start, newGeneration: true });
      await again("b");
      await again("a");
      expect(contents(await store.transcript("session", { generation: 0 }))).toEqual(["c", "to c"]);
      expect(contents(await store.transcript("session"))).toEqual(["b", "better to b", "a", "better to a"]);
      await again("c");
      expect(await store.transcript("session", { generation: 0 })).toEqual([]);
      expect((await store.sessionReports({ limit: 1 }))[0]).toMatchObject({
        key: "session",
        generation: 1,
        messages: 6,
      });
    }),
  );

  test(
    "a new generation begins empty, and the older one stays",
    withStore(async ({ store }) => {
      await speak(store, "a", [user("1")]);
      await store.updateSession("session", { agentId: "main", at: start, newGeneration: true });
      expect(await store.transcript("session")).toEqual([]);
      await speak(store, "b", [user("2")]);
      expect(contents(await store.transcript("session"))).toEqual(["2"]);
      expect(contents(await store.transcript("session", { generation: 0 }))).toEqual(["1"]);
    }),
  );
}
