import { expect, test } from "vitest";
import type { SessionMessage } from "../../state/index.ts";
import { acceptAll, idsOf, newEvent, settle, start, take, textPart, type WithStore } from "./fixture.ts";

const place = { channel: "chat", account: "default" } as const;
const lane = (rest: string) => `chat:default:${rest}`;
const move = { ...place, from: "-5", to: "-100", sessions: [], at: start };
const user = (content: string): SessionMessage => ({ role: "user", content, at: start });

export function moveRules(withStore: WithStore): void {
  test(
    "the waiting events of a chat that moved wait in the lanes of the new chat, in the same order; nothing else moves",
    withStore(async ({ store }) => {
      await acceptAll(
        store,
        newEvent("a", { lane: lane("-5") }),
        newEvent("topic", { lane: lane("-5:7") }),
        newEvent("command", { lane: `${lane("-5")}\tcontrol` }),
        newEvent("quiet", { lane: lane("-5"), gather: { key: "g", due: null } }),
        newEvent("other", { lane: lane("-50") }),
        newEvent("twin", { lane: "chat:second:-5" }),
        newEvent("new", { lane: lane("-100") }),
        newEvent("b", { lane: lane("-5"), gather: { key: "g", due: start } }),
      );
      expect(await store.moveChat(move)).toEqual({ moved: 5 });
      expect((await store.waitingLanes()).map((each) => each.lane).sort()).toEqual(
        [lane("-100"), lane("-100:7"), `${lane("-100")}\tcontrol`, lane("-50"), "chat:second:-5"].sort(),
      );
      for (const ids of [["a"], ["new"], ["quiet", "b"]]) {
        const unit = await take(store, lane("-100"));
        expect(idsOf(unit)).toEqual(ids);
        await settle(store, unit.id);
      }
      expect(await store.moveChat(move)).toEqual({ moved: 0 });
    }),
  );

  test(
    "the silent events of the old chat belong to the new one",
    withStore(async ({ store }) => {
      const end = { at: start, outcome: "silent", reason: "not_mine", decisions: [] } as const;
      for (const [id, chat] of [
        ["a", "-5"],
        ["b", "-50"],
        ["c", "-100"],
      ] as const) {
        await acceptAll(store, newEvent(id, { lane: lane(chat) }));
        await take(store, lane(chat));
        await store.settle({ unitId: id, ...end });
      }
      await store.moveChat(move);
      await acceptAll(store, newEvent("asks", { lane: lane("-100") }));
      const units = await store.passedOver("asks", { reason: "not_mine", limit: 10 });
      expect(units.map(([leader]) => leader?.id)).toEqual(["a", "c"]);
    }),
  );

  test(
    "a running unit keeps its lane until it is handed back; its replies, and the waiting ones, go to the new chat",
    withStore(async ({ store }) => {
      const address = { ...place, chat: "-5", thread: "3" };
      const rows = [address, { ...address, chat: "-6" }].map((each) => ({
        address: each,
        operation: "send" as const,
        part: textPart("hi"),
      }));
      await acceptAll(store, newEvent("waits", { lane: lane("-5") }));
      await take(store, lane("-5"));
      await store.setPreview("waits", { address, messageIds: ["8"] });
      await store.say({ unitId: "waits", at: start, rows, ending: { outcome: "answered", reason: "sent" } });
      await store.handBack("waits", { due: start + 500 });
      await acceptAll(store, newEvent("runs", { lane: lane("-5:7") }));
      await take(store, lane("-5:7"));
      await store.say({ unitId: "runs", at: start, rows, ending: { outcome: "answered", reason: "sent" } });
      expect(await store.moveChat(move)).toEqual({ moved: 1 });
      for (const unit of ["waits", "runs"])
        expect((await store.unsent(unit)).map((row) => row.address)).toEqual([
          { ...address, chat: "-100" },
          { ...address, chat: "-6" },
        ]);
      expect(await store.claim(lane("-100"), { now: start, limit: 50 })).toEqual({ unit: null, due: start + 500 });
      const moved = await take(store, lane("-100"), start + 500);
      expect(moved).toMatchObject({ id: "waits", stage: "delivery" });
      expect(moved.preview).toBeUndefined();
      expect(await store.claim(lane("-100"), { now: start + 500, limit: 50 })).toEqual({ unit: null, due: null });
      expect(await settle(store, "runs")).toBe(true);
    }),
  );

  test(
    "message ids of the old chat mean nothing in the new one: no reply replaces or removes a message there",
    withStore(async ({ store }) => {
      const address = { ...place, chat: "-5" };
      const part = { ...textPart("hi"), replaces: "8" };
      await acceptAll(store, newEvent("a", { lane: lane("-5") }));
      await take(store, lane("-5"));
      const rows = (["send", "remove"] as const).map((operation) => ({ address, operation, part }));
      await store.say({ unitId: "a", at: start, rows, ending: { outcome: "answered", reason: "sent" } });
      await store.moveChat(move);
      expect(await store.unsent("a")).toMatchObject([
        { operation: "send", address: { ...address, chat: "-100" }, part: textPart("hi") },
        { operation: "remove", address, part },
      ]);
      expect((await store.unsent("a"))[0]?.part).not.toHaveProperty("replaces");
    }),
  );

  test(
    "a session moves with its transcripts and settings, which come before those of the new session",
    withStore(async ({ store }) => {
      const write = async (id: string, sessionKey: string, content: string) => {
        await acceptAll(store, newEvent(id));
        await take(store);
        await store.say({
          unitId: id,
          at: start,
          rows: [],
          ending: { outcome: "answered", reason: "sent" },
          transcript: { sessionKey, messages: [user(content)] },
        });
        await settle(store, id);
      };
      const at = (time: number, settings: { readonly [name: string]: string }) => ({
        agentId: "main",
        at: time,
        settings,
      });
      await store.updateSession("old", at(start, { model: "a", thinking: "low" }));
      await write("one", "old", "before the reset");
      await store.updateSession("old", { agentId: "main", at: start, newGeneration: true });
      await write("two", "old", "after the reset");
      await store.updateSession("new", at(start + 9, { model: "b" }));
      await write("three", "new", "in the new chat");
      const moved = {
        ...move,
        sessions: [
          { from: "old", to: "new" },
          { from: "nobody", to: "neither" },
        ],
      };
      await store.moveChat(moved);
      await store.moveChat(moved);
      expect(await store.session("old")).toBeNull();
      expect(await store.session("neither")).toBeNull();
      expect(await store.session("new")).toMatchObject({
        generation: 1,
        settings: { model: "b", thinking: "low" },
        updatedAt: start + 9,
      });
      const contents = async (generation?: number) =>
        (await store.transcript("new", generation === undefined ? {} : { generation })).map(({ content }) => content);
      expect(await contents()).toEqual(["after the reset", "in the new chat"]);
      expect(await contents(0)).toEqual(["before the reset"]);
      expect(await store.transcript("old")).toEqual([]);
    }),
  );

  test(
    "a store that another process took over moves nothing",
    withStore(async ({ store, reopen }) => {
      await (await reopen()).begin(start);
      await expect(store.moveChat(move)).rejects.toMatchObject({ code: "state_fenced" });
    }),
  );
}
