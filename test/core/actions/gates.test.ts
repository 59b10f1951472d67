import { describe, expect, test } from "vitest";
import { pathsBelow } from "../../../core/access/place.ts";
import { checkAction, checkButtons, type Gated } from "../../../core/actions/gates.ts";
import { type ActionName, actionSchemas } from "../../../core/actions/schema.ts";
import type { ChannelCapabilities } from "../../../core/sdk/contract.ts";

const everything: ChannelCapabilities = {
  maxChars: 100,
  markup: "rich",
  edits: true,
  threads: true,
  reactions: true,
  media: true,
  buttons: true,
  typing: true,
  menu: true,
  stickers: true,
};

const gated = (options: object, by: Gated["by"] = "agent", capabilities = everything): Gated => ({
  live: { channel: "chat", capabilities, options: options as Gated["live"]["options"] },
  pathOf: pathsBelow("channels.chat"),
  by,
});

const names = actionSchemas.map(({ name }) => name);
/** The actions that are open, in their order. */
const open = (of: Gated): string => names.filter((name) => checkAction(name, of) === undefined).join(" ");

describe("available actions", () => {
  test.each([
    [{}, "send edit delete react", "send edit delete react"],
    [
      { actions: { sticker: true } },
      "send edit delete react sticker sticker-search",
      "send edit delete react sticker sticker-search",
    ],
    [{ actions: { sendMessage: false } }, "edit delete react", "edit delete react"],
    [{ actions: { editMessage: false } }, "send delete react", "send delete react"],
    [{ actions: { deleteMessage: false } }, "send edit react", "send edit react"],
    [{ actions: { reactions: false } }, "send edit delete", "send edit delete"],
    [{ reactionLevel: "off" }, "send edit delete", "send edit delete react"],
    [{ reactionLevel: "ack" }, "send edit delete", "send edit delete react"],
    [{ reactionLevel: "minimal" }, "send edit delete react", "send edit delete react"],
    [{ reactionLevel: "extensive" }, "send edit delete react", "send edit delete react"],
  ])("with %o: an agent may %s, an operator may %s", (options, agent, operator) => {
    expect(open(gated(options, "agent"))).toBe(agent);
    expect(open(gated(options, "operator"))).toBe(operator);
  });

  test("an action that the channel does not support is unavailable to all callers", () => {
    const plain = { ...everything, edits: false, reactions: false, stickers: false };
    expect(open(gated({ actions: { sticker: true } }, "operator", plain))).toBe("send");
  });

  test.each([
    ["send", { actions: { sendMessage: false } }, "channels.chat.actions.sendMessage is false."],
    ["edit", { actions: { editMessage: false } }, "channels.chat.actions.editMessage is false."],
    ["delete", { actions: { deleteMessage: false } }, "channels.chat.actions.deleteMessage is false."],
    ["react", { actions: { reactions: false } }, "channels.chat.actions.reactions is false."],
    ["sticker", {}, "channels.chat.actions.sticker is false."],
    ["sticker-search", {}, "channels.chat.actions.sticker is false."],
    [
      "react",
      { reactionLevel: "ack" },
      'channels.chat.reactionLevel is "ack": the agent reacts with minimal or extensive.',
    ],
  ] as [ActionName, object, string][])("a refusal of %s with %o names the option", (action, options, error) => {
    expect(checkAction(action, gated(options))).toEqual({ ok: false, code: "action_off", error });
  });
});

describe("where buttons are allowed", () => {
  const buttons = [[{ text: "A", value: "a" }]];
  test.each([
    [{ inlineButtons: "off" }, false, false],
    [{ inlineButtons: "dm" }, true, false],
    [{ inlineButtons: "group" }, false, true],
    [{ inlineButtons: "all" }, true, true],
    [{ inlineButtons: "allowlist" }, true, true],
    [undefined, true, true],
    [["inlineButtons"], true, true],
    [[], false, false],
  ])("with capabilities %o: in a direct chat %s, in a group %s", (capabilities, direct, group) => {
    const of = gated({ capabilities });
    expect(checkButtons({ action: "send", buttons }, of, "direct") === undefined).toBe(direct);
    expect(checkButtons({ action: "send", buttons }, of, "group") === undefined).toBe(group);
    expect(checkButtons({ action: "send" }, of, "group")).toBeUndefined();
  });

  test("the refusal names the option", () => {
    expect(
      checkButtons({ action: "send", buttons }, gated({ capabilities: { inlineButtons: "dm" } }), "group"),
    ).toEqual({
      ok: false,
      code: "buttons_off",
      error: 'channels.chat.capabilities.inlineButtons is "dm", and this is a group chat.',
    });
  });
});
