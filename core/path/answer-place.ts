/** Compares the place of a reply with the places of its message and of an earlier attempt's preview. */

import type { Address, Inbound } from "../contract/index.ts";
import type { PreviewLeft } from "../state/index.ts";

/** Whether an earlier attempt's preview is in the same place as this reply. */
export function isAt({ address }: PreviewLeft, to: Address): boolean {
  return (
    address.channel === to.channel &&
    address.account === to.account &&
    address.chat === to.chat &&
    address.thread === to.thread
  );
}

/** What a channel learns of the message that its answer is for; `undefined` if none is answered in that chat. */
export function aboutOf(
  inbound: Inbound,
  to: Address,
): { readonly trigger?: string; readonly inbound?: Inbound } | undefined {
  if (!isIn(inbound, to)) return undefined;
  const trigger = triggerOf(inbound, to);
  return { trigger, ...(inbound.authority === "channel" && { inbound }) };
}

/** Whether the reply goes to the chat in which a person has just written. */
export function answersPerson(inbound: Inbound, to: Address): boolean {
  return inbound.authority === "channel" && isIn(inbound, to);
}

/** The message that a reply may refer to: one that a person wrote, in the chat that the reply goes to. */
export function triggerOf(inbound: Inbound, to: Address): string | undefined {
  const { kind, messageId } = inbound;
  if (kind !== "message" && kind !== "edit") return undefined;
  return isIn(inbound, to) ? messageId : undefined;
}

function isIn({ channel, account, chat }: Inbound, to: Address): boolean {
  return channel === to.channel && account === to.account && chat.id === to.chat;
}
