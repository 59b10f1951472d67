/** What an account lets be done: the switches of its options, what its channel can do, how freely the agent may react, where buttons go. */
import { buttonScope, type PathOf } from "../access/index.ts";
import type { LiveAccount } from "../channels/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";
import { type ActionRefusal, refuse } from "./result.ts";
import type { ActionCall, ActionName } from "./schema.ts";

/** The switch below `actions` that an action needs. */
const switches: Readonly<Record<ActionName, string>> = {
  send: "sendMessage",
  edit: "editMessage",
  delete: "deleteMessage",
  react: "reactions",
  sticker: "sticker",
  "sticker-search": "sticker",
};

/** Stickers are off until they are switched on; every other action is on until it is switched off. */
const offByDefault = "sticker";

const needs: Readonly<Record<ActionName, { readonly capability?: keyof ChannelCapabilities; readonly what: string }>> = {
  send: { what: "messages" },
  edit: { capability: "edits", what: "edits of messages" },
  delete: { capability: "edits", what: "deleting of messages" },
  react: { capability: "reactions", what: "reactions" },
  sticker: { capability: "stickers", what: "stickers" },
  "sticker-search": { capability: "stickers", what: "stickers" },
};

export interface Gated {
  readonly live: Pick<LiveAccount, "channel" | "capabilities" | "options">;
  /** Where in the file an option of the account stands. */
  readonly pathOf: PathOf;
  readonly by: "agent" | "operator";
}

const isOff = (path: string, value: unknown, more = ""): ActionRefusal =>
  refuse("action_off", `${path} is ${JSON.stringify(value)}${more}`);

/** Whether the action may be done at all by that account; where it goes is asked apart. */
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

/** How freely the agent reacts. */
export function reactionLevel(options: LiveAccount["options"]): string {
  return typeof options.reactionLevel === "string" ? options.reactionLevel : "minimal";
}

/** Whether the buttons of a call may go to a chat of that kind. */
export function checkButtons(call: ActionCall, { live, pathOf }: Gated, kind: "direct" | "group"): ActionRefusal | undefined {
  if (call.buttons === undefined || call.buttons.length === 0) return undefined;
  if (!live.capabilities.buttons) return refuse("not_supported", `The channel ${live.channel} has no buttons.`);
  const scope = buttonScope(live.options.capabilities);
  if (scope === "off") return refuse("buttons_off", `${pathOf(["capabilities", "inlineButtons"])} is "off".`);
  if ((scope === "dm" && kind === "group") || (scope === "group" && kind === "direct"))
    return refuse("buttons_off", `${pathOf(["capabilities", "inlineButtons"])} is "${scope}", and this is a ${kind} chat.`);
  return undefined;
}
