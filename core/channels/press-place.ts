/** Where a button was pressed. */

import type { Inbound } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

/**
 * Of a message that is too old to be shown again a platform tells the chat, and not the topic. Where it was sent is
 * remembered: so the press is judged, and answered, in the topic that the button stands in.
 */
export function placePress(inbound: Inbound, findSent: Store["findSent"]): Inbound | Promise<Inbound> {
  const { kind, channel, account, chat, messageId } = inbound;
  if (kind !== "press" || messageId === undefined) return inbound;
  return findSent({ channel, account, chat: chat.id, messageId }).then((sent) => {
    const thread = sent?.thread;
    return thread === undefined || thread === chat.thread ? inbound : { ...inbound, chat: { ...chat, thread } };
  });
}
