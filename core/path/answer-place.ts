/** Where an answer goes, held against where its message and the preview of an earlier attempt are. */

import type { Address, Inbound } from "../contract/index.ts";
import type { PreviewLeft } from "../state/index.ts";

/** Whether a preview that an earlier attempt left is in the very place where this one speaks. */
export function isAt({ address }: PreviewLeft, to: Address): boolean {
  return address.channel === to.channel && address.account === to.account && address.chat === to.chat && address.thread === to.thread;
}

/** What a channel learns of the message that its answer is for; `undefined` if none is answered in that chat. */
export function aboutOf(inbound: Inbound, to: Address): { readonly trigger?: string; readonly inbound?: Inbound } | undefined {
  const { authority, channel, account, chat } = inbound;
  const isHere = channel === to.channel && account === to.account && chat.id === to.chat;
  if (!isHere) return undefined;
  const trigger = triggerOf(inbound, to);
  return { ...(trigger !== undefined && { trigger }), ...(authority === "channel" && { inbound }) };
}

/** The message that an answer may reply to: what a person wrote, in the chat that the answer goes to. */
export function triggerOf({ kind, messageId, channel, account, chat }: Inbound, to: Address): string | undefined {
  if (kind !== "message" && kind !== "edit") return undefined;
  return channel === to.channel && account === to.account && chat.id === to.chat ? messageId : undefined;
}
