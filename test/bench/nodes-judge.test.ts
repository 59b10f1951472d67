/** The judge of several nodes sees what was lost, repeated, out of order, or left without exactly one end. */
import { expect, test } from "vitest";
import { type Evidence, judgeNodes } from "../../bench/soak/nodes/judge.ts";
import type { SentEvent } from "../../bench/soak/nodes/load.ts";
import type { EventRow, OutboxRow, UnitRow } from "../../bench/soak/state.ts";
import type { SeenMessage } from "../../bench/soak/witness.ts";

/** Three events of one lane, each accepted, answered once and ended. */
function sound() {
  const numbers = [0, 1, 2] as const;
  const textOf = (index: number) => `h0n${index} river`;
  const sent: SentEvent[] = numbers.map((index) => ({
    ...{ mark: `h0n${index}`, lane: "h0", way: "webhook", chat: 2_001, acknowledged: [`e${index}`] },
  }));
  const events: EventRow[] = numbers.map((index) => ({
    ...{
      sequence: index,
      id: `e${index}`,
      state: 4,
      attempts: 1,
      unit: index,
      source: "hooks",
      kind: "agent",
      accepted_at: 1_000 + index,
    },
    ...{ due: 0, body: JSON.stringify({ message: `wrapped\n${textOf(index)}\nwrapped` }) },
  }));
  const units: UnitRow[] = numbers.map((index) => ({
    ...{
      id: index,
      event_id: `e${index}`,
      lane: "h0",
      state: 2,
      outcome: "answered",
      reason: "answered",
      settled_at: 2_000 + index,
    },
  }));
  const outbox: OutboxRow[] = numbers.map((index) => ({
    ...{
      unit: index,
      position: 0,
      chat: "2001",
      operation: "send",
      text: textOf(index),
      state: 2,
      doubts: 0,
      messageId: `${index}`,
    },
    reason: null,
  }));
  const messages: SeenMessage[] = numbers.map((index) => ({
    ...{ chat: "2001", id: `${index}`, at: 1_900 + index, edited: false, text: textOf(index), deleted: false },
  }));
  const observed = numbers.flatMap((index): Evidence["observed"] => [
    ["turn", `e${index}`, 1_500],
    ["answered", `e${index}`, 2_100],
  ]);
  return {
    sent,
    events,
    units,
    outbox,
    messages,
    observed,
    codes: new Map<number, string[]>(),
    problems: [] as string[],
  };
}

/** The rules that are broken, each with its violations. */
function broken(change: (made: ReturnType<typeof sound>) => void): Readonly<Record<string, readonly string[]>> {
  const made = sound();
  change(made);
  const { events, outbox, codes, sent, observed, problems } = made;
  const evidence: Evidence = {
    state: { events, outbox, codes, units: new Map(made.units.map((unit) => [unit.id, unit])), unorderedMs: 0 },
    messages: new Map(made.messages.map((message) => [`${message.chat}:${message.id}`, message])),
    ...{ sent, observed, problems },
  };
  const { checks } = judgeNodes(evidence);
  return Object.fromEntries(
    checks.filter(({ violations }) => violations.length > 0).map(({ rule, violations }) => [rule, violations]),
  );
}

const change = <Item extends object>(items: Item[], index: number, fields: Partial<Item>) =>
  void items.splice(index, 1, { ...(items[index] as Item), ...fields });
const again = (made: ReturnType<typeof sound>) =>
  made.messages.push({ chat: "2001", id: "9", at: 3_000, edited: false, text: "h0n1 river", deleted: false });

test("a sound state breaks no rule", () => {
  expect(broken(() => {})).toEqual({});
});

test("reports an event that is not stored or is stored under an id other than the acknowledged one", () => {
  const rule = "every event that was sent is in the inbox, once, and every answer of a hook names it";
  const lost = broken(({ events, units, outbox, messages, observed }) => {
    for (const items of [events, units, outbox, messages]) items.splice(1, 1);
    observed.splice(2, 2);
  });
  expect(lost).toMatchObject({
    [rule]: ["h0n1: stored as nothing, acknowledged as e1"],
    "every answer is on the platform": ["h0n1: no answer, it ended undefined undefined"],
  });
  expect(broken(({ sent }) => change(sent, 1, { acknowledged: ["e1", "e7"] }))).toEqual({
    [rule]: ["h0n1: stored as e1, acknowledged as e1, e7"],
  });
});

test("reports an event without an end and an event that ended twice", () => {
  expect(broken(({ events }) => change(events, 1, { state: 3 }))).toHaveProperty(["every event has exactly one end"]);
  expect(broken(({ observed }) => void observed.push(["answered", "e1", 2_200]))).toEqual({
    "no end was told twice": ["e1: told twice"],
  });
  expect(broken(({ observed }) => void observed.push(["turn", "e1", 2_200]))).toEqual({
    "no turn began for an event that had ended": ["e1: a turn after its end was told"],
  });
});

test("a repeated reply is excused only by a possible repetition that was counted and reported", () => {
  expect(broken(again)).toEqual({
    "an answer is there again only if the fate of a send was unknown, and was counted": [
      "h0n1: 2 copies, 0 doubts, it ended answered answered",
    ],
  });
  const counted = (made: ReturnType<typeof sound>) => {
    again(made);
    change(made.outbox, 1, { doubts: 1 });
  };
  expect(broken(counted)).toEqual({
    "what may have been sent twice says so in its chain of decisions": ["unit 1: 1 doubts, 0 told: "],
  });
  expect(
    broken((made) => {
      counted(made);
      made.codes.set(1, ["possibly_repeated", "sent"]);
    }),
  ).toEqual({});
});

test("reports replies of a lane out of order and nodes that exit on their own", () => {
  expect(broken(({ messages }) => void messages.reverse())).toEqual({
    "the answers of a lane come in the order of its events": [
      "h0n1: its answer came before that to h0n0",
      "h0n2: its answer came before that to h0n0",
    ],
  });
  expect(broken(({ problems }) => void problems.push("node1 ended by itself: 1"))).toEqual({
    "the nodes do not end by themselves, and stop cleanly": ["node1 ended by itself: 1"],
  });
});
