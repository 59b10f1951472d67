/**
 * Decides which actions an account allows: by its options, its channel's capabilities, the reaction level and the
 * button scope.
 */
import { buttonScope, type PathOf } from "../access/index.ts";
import { fitButtons, type LiveAccount } from "../channels/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";
import { type ActionRefusal, refuse } from "./result.ts";
import type { ActionCall, ActionName } from "./schema.ts";

/** The key under `actions` that enables each action. */
const switches: Readonly<Record<ActionName, string>> = {
  send: "sendMessage",
  edit: "editMessage",
  delete: "deleteMessage",
  react: "reactions",
  sticker: "sticker",
  "sticker-search": "sticker",
};

/** Stickers are disabled by default. All other actions are enabled by default. */
const offByDefault = "sticker";

const needs: Readonly<Record<ActionName, { readonly capability?: keyof ChannelCapabilities; readonly what: string }>> =
  {
    send: { what: "messages" },
    edit: { capability: "edits", what: "edits of messages" },
    delete: { capability: "edits", what: "deleting of messages" },
    react: { capability: "reactions", what: "reactions" },
    sticker: { capability: "stickers", what: "stickers" },
    "sticker-search": { capability: "stickers", what: "stickers" },
  };

export interface Gated {
  readonly live: Pick<LiveAccount, "channel" | "capabilities" | "options">;
  /** Finds the configuration path of an account option. */
  readonly pathOf: PathOf;
  readonly by: "agent" | "operator";
}

const isOff = (path: string, value: unknown, more = ""): ActionRefusal =>
  refuse("action_off", `${path} is ${JSON.stringify(value)}${more}`);

/** Whether the account allows the action at all. The recipient is checked separately. */
export function checkAction(action: ActionName, { live, pathOf, by }: Gated): ActionRefusal | undefined {
  const { capability, what } = needs[action];
  if (capability !== undefined && live.capabilities[capability] !== true)
    return refuse("not_supported", `The channel ${live.channel} has no ${what}.`);
  const name = switches[action];
  const set = (live.options.actions as Readonly<Record<string, unknown>> | undefined)?.[name];
  const open = typeof set === "boolean" ? set : name !== offByDefault;
  if (!open) return isOff(pathOf(["actions", name]), false, ".");
  if (action !== "react" || by === "operator") return undefined;
  const level = reactionLevel(live.options);
  return level === "minimal" || level === "extensive"
    ? undefined
    : isOff(pathOf(["reactionLevel"]), level, ": the agent reacts with minimal or extensive.");
}

/** How freely the agent may react. */
export function reactionLevel(options: LiveAccount["options"]): string {
  return typeof options.reactionLevel === "string" ? options.reactionLevel : "minimal";
}

/** Whether the buttons of a call are allowed in this kind of chat. */
export function checkButtons(
  call: ActionCall,
  { live, pathOf }: Gated,
  kind: "direct" | "group",
): ActionRefusal | undefined {
  if (call.buttons === undefined || call.buttons.length === 0) return undefined;
  if (!live.capabilities.buttons) return refuse("not_supported", `The channel ${live.channel} has no buttons.`);
  const fitting = fitButtons(call.buttons, live.capabilities.buttons);
  if ("problem" in fitting)
    return refuse("invalid_arguments", `buttons: the channel ${live.channel} ${fitting.problem}.`);
  const scope = buttonScope(live.options.capabilities);
  if (scope === "off") return refuse("buttons_off", `${pathOf(["capabilities", "inlineButtons"])} is "off".`);
  if ((scope === "dm" && kind === "group") || (scope === "group" && kind === "direct"))
    return refuse(
      "buttons_off",
      `${pathOf(["capabilities", "inlineButtons"])} is "${scope}", and this is a ${kind} chat.`,
    );
  return undefined;
}
