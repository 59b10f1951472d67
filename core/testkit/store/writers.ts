/** Several nodes write to one store: each unit has one runner, and a runner that lost its lease writes nothing. */
import { expect, test } from "vitest";
import { accountDuty, type Store, type Unit } from "../../state/index.ts";
import {
  acceptAll,
  answered,
  decision,
  idsOf,
  type Nodes,
  newEvent,
  say,
  settle,
  start,
  take,
  type WithNodes,
} from "./fixture.ts";
import { sharedModelCallRules } from "./model-calls.ts";
import { sessionTurnRules } from "./session-turns.ts";

const lost = { code: "lease_lost" };
const claimOf = (store: Store, lane = "lane") => store.claim(lane, { now: start, limit: 50 });

export function writerRules(withNodes: WithNodes): void {
  laneRules(withNodes);
  leaseRules(withNodes);
  sessionTurnRules(withNodes);
  sharedModelCallRules(withNodes);
}

function laneRules(withNodes: WithNodes): void {
  test(
    "when two nodes claim one lane at once, one of them gets the unit, and the events keep their order",
    withNodes(async ({ one, two }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
      await acceptAll(one, ...ids.map((id) => newEvent(id)));
      const taken: string[] = [];
      for (const _ of ids) {
        const claims = await Promise.all(
          [one, two, one, two].map(async (node) => ({ node, ...(await claimOf(node)) })),
        );
        const units = claims.filter((claim): claim is (typeof claims)[number] & { unit: Unit } => claim.unit !== null);
        expect(units).toHaveLength(1);
        for (const { node, unit } of units) {
          taken.push(unit.id);
          expect(await settle(node, unit.id)).toBe(true);
        }
      }
      expect(taken).toEqual(ids);
    }),
  );

  test(
    "events that two nodes accept into one lane at once keep the order of each node, and at most one is taken at once",
    withNodes(async ({ one, two }) => {
      const units: Unit[] = [];
      const acceptInTurn = async (store: Store, name: string) => {
        for (let index = 0; index < 25; index += 1) {
          const { unit } = await store.accept(newEvent(`${name}${index}`, { claim: true }));
          if (unit !== undefined) units.push(unit);
        }
      };
      await Promise.all([acceptInTurn(one, "a"), acceptInTurn(two, "b")]);
      expect(units).toHaveLength(1);
      const waiting = (await one.events({ limit: 100, oldestFirst: true })).map(({ id }) => id);
      for (const name of ["a", "b"]) {
        expect(waiting.filter((id) => id.startsWith(name))).toEqual(
          Array.from({ length: 25 }, (_, index) => `${name}${index}`),
        );
      }
    }),
  );

  test(
    "a dedupe key that two nodes accept at once is new once, and both name the same event",
    withNodes(async ({ one, two }) => {
      for (let round = 0; round < 10; round += 1) {
        const accepted = await Promise.all(
          [one, two, one, two].map((store, index) =>
            store.accept(newEvent(`e${round}.${index}`, { dedupeKey: `k${round}` })),
          ),
        );
        expect(accepted.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
        expect(new Set(accepted.map(({ eventId }) => eventId)).size).toBe(1);
      }
      expect((await one.stats()).waiting).toBe(10);
    }),
  );

  test(
    "keys and lanes that two nodes accept in opposite orders end in no deadlock",
    withNodes(async ({ one, two }) => {
      const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
      const all = (store: Store, node: string, order: readonly string[]) =>
        order.map((name) => store.accept(newEvent(`${node} ${name}`, { lane: name, dedupeKey: name })));
      const accepted = await Promise.all([...all(one, "one", names), ...all(two, "two", names.toReversed())]);
      expect(accepted.filter(({ duplicate }) => !duplicate)).toHaveLength(40);
    }),
  );

  test(
    "the events of a queue are taken by one of two units that ask at once",
    withNodes(async ({ one, two }) => {
      const queue = { lane: "queue", key: "heartbeat:main" };
      for (let index = 0; index < 10; index += 1) {
        await one.accept(newEvent(`e${index}`, { lane: queue.lane, gather: { key: queue.key, due: null } }));
      }
      await acceptAll(one, newEvent("first", { lane: "first" }), newEvent("second", { lane: "second" }));
      await take(one, "first");
      await take(two, "second");
      const taken = await Promise.all([
        one.takeQueued("first", { queue, now: start }),
        two.takeQueued("second", { queue, now: start }),
      ]);
      expect(
        taken
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(Array.from({ length: 10 }, (_, index) => `e${index}`));
      expect(taken.some((events) => events.length === 0)).toBe(true);
    }),
  );
}

/** Every write of a run, as a node that lost it would still attempt it. */
function writesOf(store: Store, rowId: number): Readonly<Record<string, () => Promise<unknown>>> {
  const address = { channel: "loopback", account: "default", chat: "5" };
  return {
    say: () => say(store, "a", ["twice"]),
    settle: () => settle(store, "a"),
    "settle with a sent row": () =>
      store.settle({
        ...answered,
        unitId: "a",
        at: start,
        decisions: [],
        sent: { rowId, receipt: { messageId: "1" }, at: start },
      }),
    requeue: () => store.requeue({ ...answered, unitId: "a", at: start, decisions: [] }),
    handBack: () => store.handBack("a", { due: 0 }),
    setPreview: () => store.setPreview("a", { address, messageIds: ["1"] }),
    takeQueued: () => store.takeQueued("a", { queue: { lane: "queue", key: "heartbeat:main" }, now: start }),
    sending: () => store.sending(rowId),
    notSent: () => store.notSent(rowId),
    doubted: () => store.doubted(rowId, { decisions: [decision("late")] }),
    sent: () => store.sent(rowId, { messageId: "1" }, { at: start }),
    unsendable: () => store.unsendable(rowId, { at: start, reason: "late" }),
  };
}

/** The first node runs a unit that is sending its reply. */
async function runsOn({ one }: Nodes): Promise<number> {
  await acceptAll(one, newEvent("a"), newEvent("b"));
  await take(one);
  const [row] = await say(one, "a", ["hello"]);
  return row?.id ?? 0;
}

function leaseRules(withNodes: WithNodes): void {
  test(
    "a node that starts leaves the units of a node with a lease where they are",
    withNodes(async ({ one, two, another }) => {
      await acceptAll(one, newEvent("a"), newEvent("b", { lane: "other" }));
      await take(one);
      await take(two, "other");
      const third = await another("third");
      expect(await third.begin(start)).toMatchObject({ resumed: 0 });
      expect(await settle(one, "a")).toBe(true);
      expect(await settle(two, "b")).toBe(true);
    }),
  );

  test(
    "after its lease, a node can write nothing for its units, even before another node takes them",
    withNodes(async (nodes) => {
      const { one, endLease } = nodes;
      const rowId = await runsOn(nodes);
      await endLease(one);
      for (const [name, write] of Object.entries(writesOf(one, rowId))) {
        await expect(write(), name).rejects.toMatchObject(lost);
      }
      await expect(claimOf(one, "other")).rejects.toMatchObject(lost);
      expect(await one.unsent("a")).toMatchObject([{ id: rowId, state: "sending", attempts: 1 }]);
    }),
  );

  test(
    "a unit whose node lost its lease is taken over once, in its stage, and the late node changes nothing of it",
    withNodes(async (nodes) => {
      const { one, two, another, endLease, look } = nodes;
      const rowId = await runsOn(nodes);
      await endLease(one);
      const third = await another("third");
      await third.begin(start);
      await Promise.all([look(two), look(third), look(two)]);
      const claims = await Promise.all([two, third].map((node) => claimOf(node)));
      expect(claims.filter(({ unit }) => unit !== null)).toHaveLength(1);
      const runner = claims[0]?.unit === null ? third : two;
      expect(claims.find(({ unit }) => unit !== null)).toMatchObject({
        unit: { id: "a", attempts: 2, stage: "delivery" },
      });

      for (const [name, write] of Object.entries(writesOf(one, rowId))) {
        await expect(write(), name).rejects.toMatchObject(lost);
      }
      await runner.sent(rowId, { messageId: "m1" }, { at: start });
      expect(await settle(runner, "a")).toBe(true);
      expect(await runner.event("a")).toMatchObject({
        state: "settled",
        attempts: 2,
        decisions: [{ code: "lease_lost", verdict: "retry" }],
      });
      expect(await runner.sentBy("a")).toEqual([{ chat: "7", messageId: "m1" }]);
      expect((await take(two)).id).toBe("b");
    }),
  );

  test(
    "a node that wakes after its lease gets a new one by itself, without the units that it had",
    withNodes(async (nodes) => {
      const { one, two, endLease, look } = nodes;
      const rowId = await runsOn(nodes);
      const fence = await one.fence();
      await endLease(one);
      await look(one);
      for (const [name, write] of Object.entries(writesOf(one, rowId))) {
        await expect(write(), name).rejects.toMatchObject(lost);
      }
      // No other process has taken its name, so it is still the same gateway.
      expect(await one.fence()).toBe(fence);
      expect(await two.stats()).toMatchObject({ running: 0, waiting: 2 });
      expect(idsOf(await take(one))).toEqual(["a"]);
      expect(await settle(one, "a")).toBe(true);
    }),
  );

  test(
    "a node that wakes after another one has ended its unit is refused in the same way",
    withNodes(async (nodes) => {
      const { one, two, endLease, look } = nodes;
      await acceptAll(one, newEvent("a"));
      await take(one);
      await endLease(one);
      await look(two);
      expect(await take(two)).toMatchObject({ id: "a", attempts: 2 });
      expect(await settle(two, "a")).toBe(true);
      await look(one);
      const { say, setPreview, takeQueued, requeue, handBack } = writesOf(one, 0);
      for (const [name, write] of Object.entries({ say, setPreview, takeQueued, requeue, handBack })) {
        await expect(write?.(), name).rejects.toMatchObject(lost);
      }
      expect(await settle(one, "a")).toBe(false);
    }),
  );

  test(
    "a node without a lease still accepts events, and takes none of them at once",
    withNodes(async ({ one, two, endLease }) => {
      await endLease(one);
      expect(await one.accept(newEvent("a", { claim: true }))).toEqual({ eventId: "a", duplicate: false });
      expect((await take(two)).id).toBe("a");
    }),
  );

  test(
    "a node that closes leaves its units at once to the others",
    withNodes(async (nodes) => {
      const { one, two, look } = nodes;
      await runsOn(nodes);
      await one.close();
      await look(two);
      expect(await take(two)).toMatchObject({ id: "a", attempts: 2 });
    }),
  );

  test(
    "a unit that is bound to a node is sent by no other node, not even by the one that sends for the account",
    withNodes(async (nodes) => {
      const { one, two, endLease, look } = nodes;
      expect(await two.nodes?.takeDuty(accountDuty("chat", "default"))).toBe(true);
      await acceptAll(one, newEvent("a"), newEvent("b", { lane: "other" }));
      await take(one);
      await one.nodes?.bindUnit("a");
      await take(one, "other");
      for (const id of ["a", "b"]) {
        await say(one, id, ["hello"]);
        await one.handBack(id, { due: 0, uncount: true });
      }
      expect(await claimOf(two)).toEqual({ unit: null, due: null });
      expect((await take(two, "other")).id).toBe("b");
      expect((await take(one)).id).toBe("a");
      await endLease(one);
      await look(two);
      expect(await claimOf(two)).toEqual({ unit: null, due: null });
    }),
  );

  test(
    "a wait that a node set ends with its lease; that of another node stays",
    withNodes(async ({ one, two, endLease, look }) => {
      await acceptAll(one, newEvent("a", { lane: "one" }), newEvent("b", { lane: "two" }));
      await take(one, "one");
      await one.handBack("a", { due: start + 1_000 });
      await take(two, "two");
      await two.handBack("b", { due: start + 1_000 });
      await endLease(one);
      await look(two);
      expect(await two.waitingLanes()).toEqual([
        { lane: "one", due: 0, attempts: 1 },
        { lane: "two", due: start + 1_000, attempts: 1 },
      ]);
    }),
  );
}
