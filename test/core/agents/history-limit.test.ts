import { expect, test } from "vitest";
import { historyLimit } from "../../../core/agents/history-limit.ts";
import { message } from "./inbound.ts";

const limit = (of: Parameters<typeof historyLimit>[0], options?: object) => historyLimit(of, options, { groupDefault: 50, hooks: 20 });
const group = message("hi", { chat: { id: "-5", kind: "group" } });

test("a direct chat has its person's own limit, else that of direct chats, else none", () => {
  const dms = { "7": { historyLimit: 3 }, "8": {} };
  const from = (id: string) => message("hi", { sender: { id } });
  expect(limit(from("7"), { dmHistoryLimit: 20, historyLimit: 5, dms })).toBe(3);
  expect(limit(from("8"), { dmHistoryLimit: 20, historyLimit: 5, dms })).toBe(20);
  expect(limit(from("9"), { dmHistoryLimit: 0, dms })).toBe(0);
  expect(limit(from("constructor"), { dms })).toBeUndefined();
  expect(limit(from("9"), undefined)).toBeUndefined();
});

test("a group has its account's historyLimit, else that of all channels; limits of direct chats do not count", () => {
  expect(limit(group, { historyLimit: 5, dmHistoryLimit: 20 })).toBe(5);
  expect(limit(group, { historyLimit: 0 })).toBe(0);
  expect(limit(group, { dmHistoryLimit: 20 })).toBe(50);
  expect(limit(group)).toBe(50);
});

test("a hook run has that of hooks, and a heartbeat the engine's bound", () => {
  expect(limit(message("hi", { kind: "hook", chat: { id: "hook:x", kind: "system" }, authority: "hook" }), { historyLimit: 5 })).toBe(20);
  expect(
    limit(message("hi", { chat: { id: "agent:main:main", kind: "system" }, authority: "operator" }), { historyLimit: 5 }),
  ).toBeUndefined();
});
