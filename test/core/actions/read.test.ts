import { describe, expect, test } from "vitest";
import { readAction } from "../../../core/actions/read.ts";
import { actionNames, actionSchemas, parametersOf } from "../../../core/actions/schema.ts";
import type { Json } from "../../../core/contract/types.ts";

test("each action has its documented names, and model providers accept all of them", () => {
  expect(actionNames).toEqual([
    "send",
    "sendMessage",
    "edit",
    "editMessage",
    "delete",
    "deleteMessage",
    "react",
    "sticker",
    "sticker-search",
  ]);
  for (const name of actionNames) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test("a tool's schema shows only the primary parameter names and omits the account", () => {
  const schemas = actionSchemas.map((schema) => {
    const { properties, required } = parametersOf(schema) as {
      readonly properties: object;
      readonly required: readonly string[];
    };
    return `${schema.name}: ${Object.keys(properties).join(" ")}; ${required.join(" ")}`;
  });
  expect(schemas).toEqual([
    "send: channel to message media fileName buttons asVoice asVideoNote replyTo threadId silent; ",
    "edit: channel chatId messageId message buttons; message",
    "delete: channel chatId messageId; ",
    "react: channel chatId messageId emoji; emoji",
    "sticker: channel to fileId replyTo threadId silent; fileId",
    "sticker-search: channel query limit; query",
  ]);
});

describe("an action call", () => {
  test.each([
    [
      "send",
      { to: 42, message: "hi", silent: "true", replyTo: null },
      { action: "send", to: "42", text: "hi", silent: true },
    ],
    [
      "sendMessage",
      { chatId: " 42 ", content: "hi", replyToMessageId: 7 },
      { action: "send", to: "42", text: "hi", replyTo: "7" },
    ],
    ["sendMessage", { to: "42", message: "hi", threadId: 3 }, { action: "send", to: "42", text: "hi", thread: "3" }],
    [
      "sendMessage",
      { to: 42, content: "hi", mediaUrl: "https://a.example/x", replyToMessageId: 7, messageThreadId: 3 },
      { action: "send", to: "42", text: "hi", media: "https://a.example/x", replyTo: "7", thread: "3" },
    ],
    ["editMessage", { chatId: 1, messageId: 2, content: "x" }, { action: "edit", to: "1", messageId: "2", text: "x" }],
    ["deleteMessage", { chatId: 1, messageId: 2 }, { action: "delete", to: "1", messageId: "2" }],
    ["react", { chatId: 1, messageId: 2, emoji: "👍" }, { action: "react", to: "1", messageId: "2", emoji: "👍" }],
    [
      "send",
      { to: "1", target: "1", media: "https://a.example/x" },
      { action: "send", to: "1", media: "https://a.example/x" },
    ],
    [
      "edit",
      { to: "1", message_id: 2, text: "x", buttons: [] },
      { action: "edit", to: "1", messageId: "2", text: "x", buttons: [] },
    ],
    [
      "send",
      { message: "x", buttons: [[], [{ text: "A", callback_data: "a", more: 1 }]] },
      { action: "send", text: "x", buttons: [[{ text: "A", value: "a" }]] },
    ],
    ["react", { emoji: "" }, { action: "react", emoji: "" }],
    ["sticker-search", { query: "cat", limit: "3" }, { action: "sticker-search", query: "cat", limit: 3 }],
  ] as const)("%s with %o is parsed", (name, args, call) => {
    expect(readAction(name, args as unknown as Json)).toEqual(call);
  });

  const data = "é".repeat(33);
  test.each([
    ["dance", {}, "action_unknown", 'There is no action "dance": there are send, sendMessage'],
    ["send", [], "invalid_arguments", "send takes an object of parameters."],
    ["send", { to: "1" }, "invalid_arguments", "send needs message or media."],
    ["sendMessage", { to: "1", content: "  " }, "invalid_arguments", "sendMessage needs content or mediaUrl."],
    [
      "send",
      { message: "x", sound: true },
      "invalid_arguments",
      '"sound" is not a parameter of send. Its parameters: channel, account, to, message',
    ],
    ["send", { message: 5 }, "invalid_arguments", "message must be a text."],
    ["send", { message: "x", to: 1.5 }, "invalid_arguments", "to must be an id."],
    ["send", { message: "x", to: "1", chatId: "2" }, "invalid_arguments", "chatId is given twice"],
    ["send", { message: "x", silent: "loud" }, "invalid_arguments", "silent must be true or false."],
    ["send", { message: "x".repeat(100_001) }, "invalid_arguments", "message has 100001 characters, at most 100000."],
    ["send", { message: "x", buttons: {} }, "invalid_arguments", "buttons must be a list of rows"],
    [
      "send",
      { message: "x", buttons: [[{ text: "A" }]] },
      "invalid_arguments",
      "buttons[0][0] needs a text and callback_data.",
    ],
    [
      "send",
      { message: "x", buttons: [[{ text: "A", callback_data: data }]] },
      "invalid_arguments",
      "buttons[0][0].callback_data has 66 bytes",
    ],
    [
      "send",
      { message: "x", buttons: [Array(101).fill({ text: "A", callback_data: "a" })] },
      "invalid_arguments",
      "buttons has 101 buttons",
    ],
    ["react", {}, "invalid_arguments", "react needs emoji."],
    ["sticker-search", { query: "cat", limit: 0 }, "invalid_arguments", "limit must be a whole number from 1 to 50."],
    ["sticker-search", { query: "cat", limit: 51 }, "invalid_arguments", "limit must be a whole number"],
  ] as const)("%s with %o is rejected with the reason", (name, args, code, error) => {
    expect(readAction(name, args as unknown as Json)).toEqual({
      ok: false,
      code,
      error: expect.stringContaining(error),
    });
  });
});
