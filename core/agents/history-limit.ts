/** How many user turns of a conversation the model is sent: by person, by direct chats, by groups; absent: the engine's bound. */
import type { Inbound } from "../types.ts";

interface LimitOptions {
  readonly historyLimit?: unknown;
  readonly dmHistoryLimit?: unknown;
  readonly dms?: unknown;
}

/** `groupDefault`: `messages.groupChat.historyLimit`; `hooks`: `hooks.historyLimit`. Heartbeats have the engine's bound. */
export function historyLimit(
  inbound: Inbound,
  options: LimitOptions | undefined,
  { groupDefault, hooks }: { readonly groupDefault: number; readonly hooks: number },
): number | undefined {
  if (inbound.kind === "hook") return hooks;
  const { kind } = inbound.chat;
  if (kind === "group" || kind === "channel") return groupHistoryLimit(options, groupDefault);
  if (kind !== "direct") return undefined;
  const people = options?.dms as Readonly<Record<string, { readonly historyLimit?: unknown }>> | undefined;
  const own = people !== undefined && Object.hasOwn(people, inbound.sender.id) ? people[inbound.sender.id]?.historyLimit : undefined;
  return number(own) ?? number(options?.dmHistoryLimit);
}

/** Of a group: turns of its conversation, and messages that were not for the bot, each so many. */
export function groupHistoryLimit(options: LimitOptions | undefined, groupDefault: number): number {
  return number(options?.historyLimit) ?? groupDefault;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
