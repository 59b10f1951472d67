/** Those who wait for the platform's limits: in the order of asking within a chat, and across chats in the order in which these come free. */
import type { Chat, ChatLimits } from "./chat-limits.ts";

export interface LimitQueue {
  /** Resolves when what was asked for is booked, when the signal ends the wait, or the account closes. */
  wait(chat: Chat, messages: number, signal: AbortSignal): Promise<void>;
  /** Whether a chat is free and waits for nothing but the bot. */
  waitsForBot(): boolean;
  /** Ends every wait. */
  close(): void;
}

export function createLimitQueue({ all, chatDelay, botDelay, book }: ChatLimits): LimitQueue {
  /** Chats whose first waiter waits for nothing but the bot. */
  const ready = new Set<Chat>();
  let botTimer: NodeJS.Timeout | undefined;
  let serving = false;

  /** Looks at the first who waits in a chat: it goes, waits on, or waits for the bot only. */
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

  /** In the order in which their chats came free. */
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
      // Held in the meantime, or the waiting call was aborted.
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
