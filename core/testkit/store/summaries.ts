/** Rules for the summaries of conversations. */
import { expect, test } from "vitest";
import type { SessionMessage, Store } from "../../state/index.ts";
import { acceptAll, newEvent, say, settle, start, take, type WithStore } from "./fixture.ts";

const user = (content: string): SessionMessage => ({ role: "user", content, at: start });
const assistant = (content: string): SessionMessage => ({ role: "assistant", content, at: start });

async function speak(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await acceptAll(store, newEvent(id));
    await take(store);
    await say(store, id, [], [user(id), assistant(`to ${id}`)]);
    await settle(store, id);
  }
}

/** Summarizes all but the last message of a conversation. */
async function summarize(store: Store, text: string, { key = "session", generation = 0 } = {}): Promise<boolean> {
  const { summary, messages } = await store.conversation(key, { generation });
  const covered = (summary?.messages ?? 0) + messages.length - 1;
  const until = messages.at(-2)?.id ?? 0;
  const after = summary?.id ?? null;
  return await store.addSummary(key, { generation, after, until, messages: covered, text, model: "a/b", at: start });
}

async function look(store: Store, options: { readonly userTurns?: number; readonly generation?: number } = {}) {
  const { summary, summaries, messages } = await store.conversation("session", options);
  return { text: summary?.text, summaries, messages: messages.map(({ content }) => content) };
}

export function summaryRules(withStore: WithStore): void {
  test(
    "a summary covers the messages up to one of them, which stay in the transcript; the next one covers more",
    withStore(async ({ store, reopen }) => {
      expect(await look(store)).toEqual({ summaries: 0, messages: [] });
      await speak(store, "1", "2");
      expect(await look(store)).toEqual({ summaries: 0, messages: ["1", "to 1", "2", "to 2"] });
      expect(await look(store, { userTurns: 1 })).toMatchObject({ messages: ["2", "to 2"] });
      expect(await look(store, { userTurns: 0 })).toMatchObject({ messages: [] });
      expect(await summarize(store, "first")).toBe(true);
      expect(await look(store)).toEqual({ text: "first", summaries: 1, messages: ["to 2"] });
      await speak(store, "3", "4");
      expect(await look(store, { userTurns: 1 })).toEqual({ text: "first", summaries: 1, messages: ["4", "to 4"] });
      expect(await summarize(store, "second")).toBe(true);
      const later = await reopen();
      expect(await look(later)).toEqual({ text: "second", summaries: 2, messages: ["to 4"] });
      const all = await later.summaries("session");
      expect(all).toMatchObject([
        { text: "first", messages: 3, model: "a/b", at: start },
        { text: "second", messages: 7, model: "a/b", at: start },
      ]);
      expect(await later.transcript("session")).toHaveLength(8);
      expect(await later.summaries("other")).toEqual([]);
    }),
  );

  test(
    "of two summaries that follow the same one, the first is stored; a covered or unknown message ends none",
    withStore(async ({ store }) => {
      await speak(store, "1", "2");
      const { messages } = await store.conversation("session");
      const [first, second] = messages.map(({ id }) => id) as [number, number];
      const add = (until: number, after: number | null, key = "session") =>
        store.addSummary(key, { generation: 0, after, until, messages: 1, text: `${until}`, model: "a/b", at: start });
      expect(await Promise.all([add(first, null), add(second, null)])).toEqual([true, false]);
      const id = (await store.conversation("session")).summary?.id ?? null;
      expect([await add(first, id), await add(999_999, id), await add(second, null)]).toEqual([false, false, false]);
      expect(await add(second, null, "other")).toBe(false);
      expect(await add(second, id)).toBe(true);
      expect(await store.summaries("session")).toHaveLength(2);
    }),
  );

  test(
    "each generation has summaries of its own, which are deleted with the session",
    withStore(async ({ store }) => {
      await speak(store, "1", "2");
      await summarize(store, "of the first");
      await store.updateSession("session", { agentId: "main", at: start, newGeneration: true });
      expect(await look(store)).toEqual({ summaries: 0, messages: [] });
      await speak(store, "3", "4");
      await summarize(store, "of the second", { generation: 1 });
      expect(await look(store)).toEqual({ text: "of the second", summaries: 1, messages: ["to 4"] });
      expect(await look(store, { generation: 0 })).toMatchObject({ text: "of the first", messages: ["to 2"] });
      expect(await store.summaries("session", { generation: 0 })).toMatchObject([{ text: "of the first" }]);
      await store.deleteSession("session");
      await speak(store, "5");
      for (const generation of [0, 1]) expect(await store.summaries("session", { generation })).toEqual([]);
      expect(await look(store)).toEqual({ summaries: 0, messages: ["5", "to 5"] });
    }),
  );

  test(
    "a summary does not outlive a message that it covers; an earlier one that does not cover it stays",
    withStore(async ({ store }) => {
      await speak(store, "1", "2", "3");
      const { messages } = await store.conversation("session");
      const [, first = { id: 0 }, , second = { id: 0 }] = messages;
      const more = { generation: 0, model: "a/b", at: start };
      await store.addSummary("session", { ...more, after: null, until: first.id, messages: 2, text: "one turn" });
      const after = (await store.conversation("session")).summary?.id ?? null;
      await store.addSummary("session", { ...more, after, until: second.id, messages: 4, text: "two turns" });
      const again = async (id: string) => {
        await store.replay(id, start);
        await take(store);
        await say(store, id, [], [user(`${id} again`)]);
        await settle(store, id);
      };
      await again("3");
      expect(await look(store)).toEqual({ text: "two turns", summaries: 2, messages: ["3 again"] });
      await again("2");
      expect(await look(store)).toEqual({ text: "one turn", summaries: 1, messages: ["3 again", "2 again"] });
      await again("1");
      expect(await look(store)).toEqual({ summaries: 0, messages: ["3 again", "2 again", "1 again"] });
    }),
  );

  test(
    "an edited transcript has no summary; a summary is pruned with the first message that it covers",
    withStore(async ({ store }) => {
      await speak(store, "1", "2", "3");
      await summarize(store, "all");
      const [message] = await store.messagesAbout({ text: "1", unitIds: [] });
      const { id = 0, transcript = 0 } = message ?? {};
      await store.editTranscript({ transcript, remove: [], replace: [{ id, content: "one" }] });
      expect(await look(store)).toMatchObject({ summaries: 0, messages: ["one", "to 1", "2", "to 2", "3", "to 3"] });
      await summarize(store, "again");
      const limits = { now: start + 10, keepEventsMs: 1_000, keepEvents: 100, keepSentMs: 1_000 };
      await store.prune({ ...limits, keepTranscriptsMs: 20 });
      expect(await look(store)).toMatchObject({ text: "again", summaries: 1 });
      await acceptAll(store, newEvent("new"));
      await take(store);
      await say(store, "new", [], [{ ...user("new"), at: start + 9 }]);
      await settle(store, "new");
      await store.prune({ ...limits, keepTranscriptsMs: 5 });
      expect(await look(store)).toEqual({ summaries: 0, messages: ["new"] });
    }),
  );

  test(
    "a conversation that moves before another one brings its summary; that of the other no longer covers everything",
    withStore(async ({ store }) => {
      const speakIn = async (sessionKey: string, id: string) => {
        await acceptAll(store, newEvent(id));
        const unit = await take(store);
        await store.say({
          ...{ unitId: unit.id, at: start, rows: [] },
          ending: { outcome: "answered", reason: "answered", sessionKey, agentId: "main" },
          transcript: { sessionKey, messages: [user(id), assistant(`to ${id}`)] },
        });
        await settle(store, id);
      };
      for (const id of ["1", "2"]) await speakIn("old", id);
      for (const id of ["3", "4"]) await speakIn("session", id);
      await summarize(store, "of the old chat", { key: "old" });
      await summarize(store, "of the new chat");
      const place = { channel: "test", account: "default", from: "7", to: "8", at: start };
      await store.moveChat({ ...place, sessions: [{ from: "old", to: "session" }] });
      const messages = ["to 2", "3", "to 3", "4", "to 4"];
      expect(await look(store)).toEqual({ text: "of the old chat", summaries: 1, messages });
      await summarize(store, "of both");
      expect(await look(store)).toEqual({ text: "of both", summaries: 2, messages: ["to 4"] });
    }),
  );
}
