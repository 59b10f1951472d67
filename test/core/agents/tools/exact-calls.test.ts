/** Recorded calls keep the digits of their numbers, and arguments are compared with them. */
import { expect, test } from "vitest";
import { createCallRecords } from "../../../../core/agents/tools/call-records.ts";
import { exactArguments } from "../../../../core/agents/tools/exact-arguments.ts";
import { createTurnCalls } from "../../../../core/agents/tools/turn-calls.ts";
import { type Json, parseExactJson } from "../../../../core/contract/index.ts";
import { Visit } from "../../../../core/stations/index.ts";

const exact = (text: string): Json => parseExactJson(text) as Json;

/** Like an embedded store: it takes what can be cloned. */
function cloningStore() {
  const kept = new Map<string, Json>();
  return {
    set: async (_: string, key: string, value: Json) => void kept.set(key, structuredClone(value)),
    list: async () => [...kept].map(([key, value]) => ({ key, value })),
    delete: async (_: string, key: string) => void kept.delete(key),
  };
}

test("a recorded call keeps all digits of its arguments and its result", async () => {
  const records = createCallRecords({ store: cloningStore() as never, now: () => 0 });
  const call = { name: "note", plugin: "lab", ordinal: 1, at: 0 };
  await records.write("event", {
    ...call,
    args: exact('{"id":9007199254740993}'),
    result: exact('{"next":9007199254740995,"at":1}'),
  });
  await records.write("event", { ...call, ordinal: 2, args: { id: 1 } });
  const [first, second] = await records.of("event");
  expect(JSON.stringify([first?.args, first?.result])).toBe(
    '[{"id":9007199254740993},{"next":9007199254740995,"at":1}]',
  );
  expect(second).toEqual({ ...call, ordinal: 2, args: { id: 1 } });
});

test("calls that differ in the last digit are different calls, also for approval", async () => {
  const given = {
    event: "event",
    visit: new Visit(),
    store: cloningStore() as never,
    now: () => 0,
    onEarlier: () => {},
  };
  const calls = createTurnCalls({ ...given, isAsked: async () => false });
  const key = (text: string) => calls.approvalKey("note", exact(text)).replace(/:\d+$/, "");
  expect(key('{"id":9007199254740993}')).not.toBe(key('{"id":9007199254740992}'));
  expect(key('{"id":9007199254740993}')).toBe(key('{"id":9007199254740993}'));
  expect(key('{"id":9007199254740993}')).not.toBe(key('{"id":{"rawJSON":"9007199254740993"}}'));
});

test("a number tool gets an overlong fraction rounded, and an overlong integer is rejected", () => {
  const text = '{"at":[52.52000659999999912]}';
  expect(exactArguments(JSON.parse(text), text, false)).toEqual({ args: { at: [52.5200066] } });
  expect(JSON.stringify(exactArguments(JSON.parse(text), text, true).args)).toBe(text);
  const id = '{"id":9007199254740993}';
  expect(exactArguments(JSON.parse(id), id, false).problem).toMatch(/^id is a number with more digits/);
});
