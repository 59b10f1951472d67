/** The place where a button was pressed. */

import type { Inbound } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

/**
 * For an old message, a platform names the chat but not the topic. The place is looked up among sent messages, so that
 * the press is checked and answered in the topic of its button.
 */
export function placePress(inbound: Inbound, findSent: Store["findSent"]): Inbound | Promise<Inbound> {
  const { kind, channel, account, chat, messageId } = inbound;
  if (kind !== "press" || messageId === undefined) return inbound;
  return findSent({ channel, account, chat: chat.id, messageId }).then((sent) => {
    const thread = sent?.thread;
    return thread === undefined || thread === chat.thread ? inbound : { ...inbound, chat: { ...chat, thread } };
  });
}
