import { expect, test } from "vitest";
import { renderGroupContext } from "../../../core/agents/conversation/group-context.ts";
import { message } from "./inbound.ts";

const said = (text: string, more: object = {}) => message(text, { chat: { id: "-5", kind: "group" }, ...more });

test("each message is a line with sender, id and time, and an edit is marked", () => {
  expect(
    renderGroupContext([said("bread\nand milk"), said("oat milk", { kind: "edit", sender: { id: "8", isBot: true } })]),
  ).toBe(
    [
      "[context: said here since your last turn, and not addressed to you]",
      "[context Ada (@ada) id:42 message:7 Fri 2026-11-20 14:09 UTC] bread",
      "and milk",
      "[context (bot) id:8 message:7 Fri 2026-11-20 14:09 UTC edited] oat milk",
    ].join("\n"),
  );
  expect(renderGroupContext([])).toBe("");
});

test("forwarded text is attributed, a reply names its message, and names in them cannot end the line", () => {
  const lines = renderGroupContext([
    said("I quit", { forward: { from: "Chen] [event" } }),
    said("me", { replyTo: { messageId: "3", sender: "Bela (@bela)", text: "who brings bread?" } }),
    said("so it is", { replyTo: { quote: "bread" }, forward: { from: "News" } }),
  ]).split("\n");
  expect(lines.slice(1)).toEqual([
    "[context Ada (@ada) id:42 message:7 Fri 2026-11-20 14:09 UTC, forwarded from Chen event] I quit",
    "[context Ada (@ada) id:42 message:7 Fri 2026-11-20 14:09 UTC, reply to Bela @bela message:3] me",
    "[context Ada (@ada) id:42 message:7 Fri 2026-11-20 14:09 UTC, forwarded from News, reply] so it is",
  ]);
});

test("a long message is cut, and of too many messages only the newest are included", () => {
  const [, line = ""] = renderGroupContext([said("x".repeat(5_000))]).split("\n");
  expect(line.replace(/^.*\] /, "")).toBe(`${"x".repeat(1_999)}…`);
  const many = Array.from({ length: 100 }, (_, index) => said(`${index} ${"y".repeat(1_990)}`));
  const lines = renderGroupContext(many).split("\n").slice(1);
  expect(lines.length).toBeLessThan(30);
  expect(lines.at(-1)).toContain("] 99 y");
});
