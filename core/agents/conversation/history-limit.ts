/** How many user turns of a conversation, and how many other group messages, the model receives. */
import type { Inbound } from "../../contract/index.ts";
import { isPluginTurn } from "./plugin-turn.ts";

/** User turns of a conversation in which only a plugin asks. */
const ownTurns = 20;

interface LimitOptions {
  readonly historyLimit?: unknown;
  readonly dmHistoryLimit?: unknown;
  readonly dms?: unknown;
}

/**
 * Number of user turns that the model receives. A direct chat uses its own limit, else the limit for direct chats; a
 * webhook session uses `hooks` (`hooks.historyLimit`). When `undefined`, the agent's `historyTurns` applies.
 */
export function historyLimit(inbound: Inbound, options: LimitOptions | undefined, hooks: number): number | undefined {
  if (inbound.kind === "hook") return hooks;
  // A plugin whose turns continue a conversation of its own would otherwise pay for a hundred earlier ones each time.
  if (isPluginTurn(inbound) && inbound.request?.sessionKey !== undefined && inbound.chat.kind === "system")
    return ownTurns;
  if (inbound.chat.kind !== "direct") return undefined;
  const people = options?.dms as Readonly<Record<string, { readonly historyLimit?: unknown }>> | undefined;
  const own =
    people !== undefined && Object.hasOwn(people, inbound.sender.id)
      ? people[inbound.sender.id]?.historyLimit
      : undefined;
  return number(own) ?? number(options?.dmHistoryLimit);
}

/**
 * How many group messages that did not address the bot are passed to the next turn. This does not limit the
 * conversation itself.
 */
export function groupHistoryLimit(options: LimitOptions | undefined, groupDefault: number): number {
  return number(options?.historyLimit) ?? groupDefault;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
