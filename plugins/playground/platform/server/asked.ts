/** Finds the message of a person that a bot's call answers, so that the page can group the calls of one reply. */

import type { Core, PlatformEvent } from "../core.ts";
import type { Message } from "../wire.ts";
import type { Asked } from "./calls.ts";

const shownText = 80;
const mostThreads = 10_000;

export interface AskedMessages {
  /** Records an event of the platform. */
  note(event: PlatformEvent): void;
  /** The message that a call with these parameters answers; `undefined` if it names no chat in which a person wrote. */
  of(params: Readonly<Record<string, unknown>>): Asked | undefined;
}

const threadOf = (message: Message) => (message.is_topic_message === true ? message.message_thread_id : undefined) ?? 1;

export function createAskedMessages(core: Core): AskedMessages {
  const last = new Map<string, Asked>();
  const threads = new Map<string, number>();

  return {
    note(event) {
      if (event.type !== "message") return;
      const { message } = event;
      const thread = threadOf(message);
      // An edit only names its message, so it belongs to that message's topic.
      if (threads.size > mostThreads) threads.clear();
      if (thread !== 1) threads.set(`${message.chat.id}|${message.message_id}`, thread);
      if (message.from.is_bot) return;
      const text = (message.text ?? message.caption ?? "a file").slice(0, shownText);
      const from = core.world.people.get(message.from.id)?.first_name ?? "Somebody";
      const asked = { chat: message.chat.id, message: message.message_id, from, text };
      last.set(`${asked.chat}|${thread}`, asked);
      last.set(`${asked.chat}`, asked);
    },
    of({ chat_id: chat, message_thread_id: thread, message_id: message }) {
      const topic = thread ?? threads.get(`${chat}|${message}`) ?? 1;
      // A message in a topic without user messages was caused elsewhere in the chat.
      return last.get(`${chat}|${topic}`) ?? last.get(`${chat}`);
    },
  };
}
