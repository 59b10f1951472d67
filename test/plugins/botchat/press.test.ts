import type { Json } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { parseUpdate } from "../../../plugins/botchat/intake/parse.ts";
import { type ButtonScope, buttonScope } from "../../../plugins/botchat/intake/press.ts";

test.each([
  [{ inlineButtons: "dm" } as const, "dm"],
  [["inlineButtons"], "all"],
  [[], "off"],
  [["other"], "off"],
])("capabilities %j set the button scope to %s", (capabilities, scope) =>
  expect(buttonScope(capabilities)).toBe(scope),
);

const press = (type: string) =>
  ({
    callback_query: {
      id: "9",
      from: { id: 7 },
      data: "go",
      message: { message_id: 5, date: 1, chat: { id: -7, type } },
    },
  }) as unknown as Json;

test.each<[ButtonScope, string, boolean]>([
  ["dm", "private", true],
  ["dm", "channel", false],
  ["group", "supergroup", true],
  ["group", "channel", true],
  ["group", "private", false],
  ["allowlist", "channel", true],
  ["off", "private", false],
])("with scope %s a press in a chat of type %s is accepted: %s", (buttons, type, counts) => {
  const parsed = parseUpdate(press(type), { id: "1" }, [], { buttons });
  if (counts) expect(parsed).toMatchObject({ kind: "press" });
  else expect(parsed).toMatchObject({ silent: "buttons_excluded", option: ["capabilities", "inlineButtons"] });
});
