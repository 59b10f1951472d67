/** Where a button was pressed. */

import type { Inbound } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

/**
 * For a message that is too old, a platform names the chat but not the topic. Where it was sent is
 * remembered, so the press is judged and answered in the topic of its button.
 */
export function placePress(inbound: Inbound, findSent: Store["findSent"]): Inbound | Promise<Inbound> {
  const { kind, channel, account, chat, messageId } = inbound;
  if (kind !== "press" || messageId === undefined) return inbound;
  return findSent({ channel, account, chat: chat.id, messageId }).then((sent) => {
    const thread = sent?.thread;
    return thread === undefined || thread === chat.thread ? inbound : { ...inbound, chat: { ...chat, thread } };
  });
}
