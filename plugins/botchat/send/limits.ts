/**
 * When a message may be sent to a chat. Messages and edits wait in order of arrival for the platform's rate limits;
 * previews and typing give way to them, and to flood waits.
 */
import { type ChatLimits, type ChatLimitsOptions, createChatLimits } from "./chat-limits.ts";
import { createLimitQueue } from "./limit-queue.ts";

/** For calls without a waiting caller. */
export interface Pace {
  /** Milliseconds until an unimportant call may be sent to the chat; 0: now. */
  delay(chat: string): number;
  /** The platform demanded a wait: nothing is sent to the chat meanwhile. */
  hold(chat: string, ms: number): void;
  /**
   * A call is in progress until the returned function is called: `messages` new messages, or an edit (0). No other
   * unimportant call starts for `ms`, also counted from its end.
   */
  used(chat: string, ms: number, messages: 0 | 1): () => void;
}

export interface Limits extends Pace, Pick<ChatLimits, "holdAgain"> {
  /**
   * Books this many messages, or an edit (`messages` 0). `undefined`: it may go now. Otherwise resolves when it may,
   * when the signal ends the wait, or when the account closes. `joins`: the pause between two messages of a chat is
   * omitted, because the platform allows short bursts.
   */
  admit(
    chat: string,
    call: { readonly messages: number; readonly joins: boolean },
    signal: AbortSignal,
  ): Promise<void> | undefined;
  /** Milliseconds for which the platform accepts nothing in the chat. */
  held(chat: string): number;
  /** A real message is being sent until the returned function is called. */
  sending(chat: string): () => void;
  /** Ends every wait. */
  close(): void;
}

/**
 * How soon a caller that gave way asks again. It does not ask each time a slot becomes free, because all the others
 * would too.
 */
const againMs = 200;
/** Messages a minute that previews leave to a group's replies. */
const spared = 5;

export function createLimits(options: ChatLimitsOptions): Limits {
  const { now } = options;
  const { perBotPerSecond, perChatPerSecond, perGroupPerMinute } = options.limits;
  const unlimited = perBotPerSecond === 0 && perChatPerSecond === 0 && perGroupPerMinute === 0;
  const chats = createChatLimits(options);
  const queue = createLimitQueue(chats);
  const { of, chatDelay, botDelay, book, begin } = chats;
  let closed = false;

  return {
    admit(name, { messages, joins }, signal) {
      if (closed || signal.aborted) return undefined;
      // Without limits and flood waits there is nothing to count.
      if (unlimited && !chats.wasHeld()) return undefined;
      const chat = of(name);
      const free =
        chat.waiters.length === 0 &&
        !queue.waitsForBot() &&
        chatDelay(chat, messages, joins) === 0 &&
        botDelay(messages) === 0;
      if (!free) return queue.wait(chat, messages, signal);
      chat.booked = book(chat, messages);
      return undefined;
    },
    delay(name) {
      const chat = chats.known(name);
      const at = now();
      const bots = botDelay(1);
      const others = queue.waitsForBot() || bots > 0 ? Math.max(againMs, bots) : 0;
      if (chat === undefined) return others;
      const busy = chat.sending > 0 || chat.waiters.length > 0 ? againMs : 0;
      return Math.max(others, busy, chat.until - at, chatDelay(chat, 0), chat.minute?.delay(at, 1 + spared) ?? 0);
    },
    held: chats.held,
    hold: chats.hold,
    holdAgain: chats.holdAgain,
    used(name, ms, messages) {
      const chat = of(name);
      const rest = () => {
        chat.until = Math.max(chat.until, now() + ms);
      };
      const ended = begin(chat, book(chat, messages));
      rest();
      return () => {
        ended();
        rest();
      };
    },
    sending(name) {
      const chat = of(name);
      chat.sending += 1;
      const ended = chat.booked === undefined ? undefined : begin(chat, chat.booked);
      chat.booked = undefined;
      return () => {
        chat.sending -= 1;
        ended?.();
      };
    },
    close() {
      closed = true;
      queue.close();
    },
  };
}
