/** Turns of one session run one at a time on all nodes of a store. */
import { expect, test } from "vitest";
import type { Store } from "../../state/index.ts";
import { newEvent, say, settle, take, type WithNodes } from "./fixture.ts";

/** Lets a running unit ask for its turn in a session. */
function ask(store: Store, unitId: string, { sessionKey = "session", signal = new AbortController().signal } = {}) {
  let waited = false;
  const onWait = () => {
    waited = true;
  };
  const entered =
    store.nodes?.enterSession(unitId, { sessionKey, signal, onWait }) ??
    Promise.reject(new Error("The store has no nodes."));
  return { entered, waits: () => waited };
}

/** Accepts an event in a lane of its own, and takes it. */
async function runUnit(store: Store, id: string): Promise<void> {
  await store.accept(newEvent(id, { lane: id }));
  await take(store, id);
}

export function sessionTurnRules(withNodes: WithNodes): void {
  test(
    "turns of one session run one at a time on all nodes, in the order in which they ask; other sessions do not wait",
    withNodes(async ({ one, two }) => {
      for (const [store, id] of [
        [one, "a"],
        [two, "b"],
        [one, "c"],
        [two, "d"],
      ] as const)
        await runUnit(store, id);
      const entered: string[] = [];
      expect(await ask(one, "a").entered).toBe(true);
      const second = ask(two, "b");
      await expect.poll(second.waits).toBe(true);
      const third = ask(one, "c");
      await expect.poll(third.waits).toBe(true);
      void second.entered.then(() => entered.push("b"));
      void third.entered.then(() => entered.push("c"));
      expect(await ask(two, "d", { sessionKey: "another session" }).entered).toBe(true);
      expect(entered).toEqual([]);
      // The turn has ended, and its reply is still to be sent.
      await say(one, "a", ["hello"]);
      expect(await second.entered).toBe(true);
      expect(entered).toEqual(["b"]);
      await two.handBack("b", { due: 0 });
      expect(await third.entered).toBe(true);
      await settle(one, "c");
      await runUnit(two, "e");
      expect(await ask(two, "e").entered).toBe(true);
    }),
  );

  test(
    "a turn that waits for a person leaves its session to those that asked later, and asks again behind them",
    withNodes(async ({ one, two }) => {
      for (const [store, id] of [
        [one, "a"],
        [two, "b"],
        [one, "c"],
      ] as const)
        await runUnit(store, id);
      if (one.nodes?.leaveSession === undefined) return;
      expect(await ask(one, "a").entered).toBe(true);
      const second = ask(two, "b");
      await expect.poll(second.waits).toBe(true);
      await one.nodes.leaveSession("a");
      expect(await second.entered).toBe(true);
      const third = ask(one, "c");
      await expect.poll(third.waits).toBe(true);
      const again = ask(one, "a");
      await expect.poll(again.waits).toBe(true);
      await settle(two, "b");
      expect(await third.entered).toBe(true);
      await settle(one, "c");
      expect(await again.entered).toBe(true);
      await settle(one, "a");
      // Of a unit that does not run, there is nothing to leave.
      await expect(one.nodes.leaveSession("a")).rejects.toThrow();
    }),
  );

  test(
    "a turn whose node lost its lease leaves its session, and a turn that gives up its wait holds up no other",
    withNodes(async ({ one, two, endLease, look }) => {
      for (const [store, id] of [
        [one, "a"],
        [two, "b"],
        [two, "c"],
      ] as const)
        await runUnit(store, id);
      expect(await ask(one, "a").entered).toBe(true);
      const giving = new AbortController();
      const second = ask(two, "b", { signal: giving.signal });
      await expect.poll(second.waits).toBe(true);
      const third = ask(two, "c");
      await expect.poll(third.waits).toBe(true);
      giving.abort();
      expect(await second.entered).toBe(false);
      await two.handBack("b", { due: 0, uncount: true });
      await endLease(one);
      await look(two);
      expect(await third.entered).toBe(true);
      await expect(ask(one, "a").entered).rejects.toMatchObject({ code: "lease_lost" });
    }),
  );
}
