import { expect, test } from "vitest";
import { groupHistoryLimit, historyLimit } from "../../../core/agents/conversation/history-limit.ts";
import { message } from "./inbound.ts";

const limit = (of: Parameters<typeof historyLimit>[0], options?: object) => historyLimit(of, options, 20);
const group = message("hi", { chat: { id: "-5", kind: "group" } });

test("a direct chat has its person's own limit, else the direct chats' limit, else no limit", () => {
  const dms = { "7": { historyLimit: 3 }, "8": {} };
  const from = (id: string) => message("hi", { sender: { id } });
  expect(limit(from("7"), { dmHistoryLimit: 20, historyLimit: 5, dms })).toBe(3);
  expect(limit(from("8"), { dmHistoryLimit: 20, historyLimit: 5, dms })).toBe(20);
  expect(limit(from("9"), { dmHistoryLimit: 0, dms })).toBe(0);
  expect(limit(from("constructor"), { dms })).toBeUndefined();
  expect(limit(from("9"), undefined)).toBeUndefined();
});

test("no channel limit bounds a group's conversation; historyLimit bounds the group context beside it", () => {
  expect(limit(group, { historyLimit: 0, dmHistoryLimit: 20 })).toBeUndefined();
  expect(groupHistoryLimit({ historyLimit: 0 }, 50)).toBe(0);
  expect(groupHistoryLimit({ dmHistoryLimit: 20 }, 50)).toBe(50);
  expect(groupHistoryLimit(undefined, 50)).toBe(50);
});

test("a webhook session has the webhooks' limit, and a heartbeat has no channel limit", () => {
  expect(
    limit(message("hi", { kind: "hook", chat: { id: "hook:x", kind: "system" }, authority: "hook" }), {
      historyLimit: 5,
    }),
  ).toBe(20);
  expect(
    limit(message("hi", { chat: { id: "agent:main:main", kind: "system" }, authority: "operator" }), {}),
  ).toBeUndefined();
});

test("a conversation that only a plugin drives, such as a schedule's, keeps the last 20 turns", () => {
  const run = message("hi", {
    ...{ kind: "system", chat: { id: "schedule:x", kind: "system" }, authority: "operator" },
    request: { sessionKey: "schedule:x" },
  });
  expect(historyLimit(run, {}, 7)).toBe(20);
});
