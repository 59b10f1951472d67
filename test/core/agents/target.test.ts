import { expect, test } from "vitest";
import { parseTarget } from "../../../core/agents/target.ts";

const threads = { threads: true };
/** A platform whose topics are numbers. */
const numbered = { ...threads, messageIds: { pattern: "[1-9]\\d*", description: "a whole number from 1 on" } };

test.each([
  ["42", { chat: "42" }],
  [" -1001 ", { chat: "-1001" }],
  ["-1001:topic:7", { chat: "-1001", thread: "7" }],
  ["-1001:7", { chat: "-1001", thread: "7" }],
  ["-1001:Topic:007", { chat: "-1001", thread: "7" }],
  ["@team:topic:7", { chat: "@team", thread: "7" }],
  ["@team:7", { chat: "@team", thread: "7" }],
  ["tg:42", { chat: "tg:42" }],
  ["tg:-1001:7", { chat: "tg:-1001", thread: "7" }],
  ["telegram:group:-1001:topic:1", { chat: "telegram:group:-1001", thread: "1" }],
  ["!room:host.example:8448", { chat: "!room:host.example:8448" }],
  ["!room:host.example:topic:8", { chat: "!room:host.example", thread: "8" }],
  ["-1001:topic:", { chat: "-1001:topic:" }],
  ["-1001:topic:0", { chat: "-1001:topic:0" }],
  ["-1001:00", { chat: "-1001:00" }],
  ["-1001:topic:x", { chat: "-1001:topic:x" }],
  ["+49 170 1", { chat: "+49 170 1" }],
])("the recipient %s is parsed as %o", (text, target) => {
  expect(parseTarget(text, numbered)).toEqual(target);
});

test.each([
  ["C0TOWN:topic:1759999999.000100", { chat: "C0TOWN", thread: "1759999999.000100" }],
  ["town:topic:4yrd5kwtbbnwxrk8xkymb6shrc", { chat: "town", thread: "4yrd5kwtbbnwxrk8xkymb6shrc" }],
  ["!room:host.example:topic:$abc:host.example", { chat: "!room:host.example", thread: "$abc:host.example" }],
  ["-1001:topic:007", { chat: "-1001", thread: "007" }],
  ["-1001:topic:0", { chat: "-1001:topic:0" }],
  ["-1001:topic:", { chat: "-1001:topic:" }],
])("where a topic can be any text, the recipient %s is parsed as %o", (text, target) => {
  expect(parseTarget(text, threads)).toEqual(target);
});

test("a recipient is the whole text if the channel has no topics", () => {
  expect(parseTarget("1001:7", { threads: false })).toEqual({ chat: "1001:7" });
});
