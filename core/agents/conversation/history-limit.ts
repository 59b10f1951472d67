/** How many user turns of a conversation the model is sent, and how much group talk beside it. */
import type { Inbound } from "../../contract/index.ts";

interface LimitOptions {
  readonly historyLimit?: unknown;
  readonly dmHistoryLimit?: unknown;
  readonly dms?: unknown;
}

/**
 * User turns that the model is sent: of a direct chat its own limit, else that of direct chats; of a webhook's session `hooks`, which is
 * `hooks.historyLimit`. Absent, and everywhere else, `historyTurns` of the agent applies.
 */
export function historyLimit(inbound: Inbound, options: LimitOptions | undefined, hooks: number): number | undefined {
  if (inbound.kind === "hook") return hooks;
  if (inbound.chat.kind !== "direct") return undefined;
  const people = options?.dms as Readonly<Record<string, { readonly historyLimit?: unknown }>> | undefined;
  const own = people !== undefined && Object.hasOwn(people, inbound.sender.id) ? people[inbound.sender.id]?.historyLimit : undefined;
  return number(own) ?? number(options?.dmHistoryLimit);
}

/** Messages of a group that were not for the bot: so many of them are given to the next turn. It does not bound the conversation itself. */
export function groupHistoryLimit(options: LimitOptions | undefined, groupDefault: number): number {
  return number(options?.historyLimit) ?? groupDefault;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
