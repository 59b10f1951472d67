/** Where an answer goes, held against where its message and the preview of an earlier attempt are. */

import type { Address, Inbound } from "../contract/index.ts";
import type { PreviewLeft } from "../state/index.ts";

/** Whether a preview that an earlier attempt left is in the very place where this one speaks. */
export function isAt({ address }: PreviewLeft, to: Address): boolean {
  return address.channel === to.channel && address.account === to.account && address.chat === to.chat && address.thread === to.thread;
}

/** The message that an answer may reply to: what a person wrote, in the chat that the answer goes to. */
export function triggerOf({ kind, messageId, channel, account, chat }: Inbound, to: Address): string | undefined {
  if (kind !== "message" && kind !== "edit") return undefined;
  return channel === to.channel && account === to.account && chat.id === to.chat ? messageId : undefined;
}
