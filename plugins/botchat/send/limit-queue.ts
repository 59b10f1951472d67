/**
 * The queue of calls that wait for the platform's rate limits: within a chat in order of arrival, across chats in the
 * order in which they become free.
 */
import type { Chat, ChatLimits } from "./chat-limits.ts";

export interface LimitQueue {
  /** Resolves when the request is booked, when the signal ends the wait, or when the account closes. */
  wait(chat: Chat, messages: number, signal: AbortSignal): Promise<void>;
  /** Whether a chat is free and waits only for the bot's limit. */
  waitsForBot(): boolean;
  /** Ends every wait. */
  close(): void;
}

export function createLimitQueue({ all, chatDelay, botDelay, book }: ChatLimits): LimitQueue {
  /** Chats whose first waiting call waits only for the bot's limit. */
  const ready = new Set<Chat>();
  let botTimer: NodeJS.Timeout | undefined;
  let serving = false;

  /** Checks the first waiting call of a chat: it starts, keeps waiting, or waits only for the bot's limit. */
  function serve(chat: Chat): void {
    clearTimeout(chat.timer);
    chat.timer = undefined;
    const [first] = chat.waiters;
    if (first === undefined || ready.has(chat)) return;
    const delay = chatDelay(chat, first.messages);
    if (delay > 0) chat.timer = setTimeout(() => serve(chat), Math.ceil(delay));
    else {
      ready.add(chat);
      if (botTimer === undefined && !serving) serveReady();
    }
  }

  /** In the order in which their chats became free. */
  function serveReady(): void {
    botTimer = undefined;
    serving = true;
    for (const chat of ready) {
      const [first] = chat.waiters;
      const delay = first === undefined ? 0 : botDelay(first.messages);
      if (delay > 0) {
        botTimer = setTimeout(serveReady, Math.ceil(delay));
        break;
      }
      ready.delete(chat);
      // The chat was held meanwhile, or the waiting call was aborted.
      if (first !== undefined && chatDelay(chat, first.messages) === 0) {
        chat.waiters.shift();
        chat.booked = book(chat, first.messages);
        first.go();
      }
      serve(chat);
    }
    serving = false;
  }

  function wait(chat: Chat, messages: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const waiter = { messages, go };
      const leave = () => {
        chat.waiters.splice(chat.waiters.indexOf(waiter), 1);
        go();
      };
      signal.addEventListener("abort", leave, { once: true });
      chat.waiters.push(waiter);
      if (chat.waiters.length === 1) serve(chat);
    });
  }

  return {
    wait,
    waitsForBot: () => ready.size > 0,
    close() {
      clearTimeout(botTimer);
      ready.clear();
      for (const chat of all()) {
        clearTimeout(chat.timer);
        for (const { go } of chat.waiters.splice(0)) go();
      }
    },
  };
}
