/**
 * When something may be sent to a chat. Messages and edits wait in the order of asking until the platform's limits let them go; previews
 * and typing give way to them, and to its flood waits.
 */
import type { AccountOptions } from "../options.ts";
import { createWindow, type Slot, type Window } from "./window.ts";

/** For calls without a waiting caller. */
export interface Pace {
  /** Milliseconds until something unimportant may be sent to the chat; 0: now. */
  delay(chat: string): number;
  /** The platform asked to wait: nothing goes to the chat meanwhile. */
  hold(chat: string, ms: number): void;
  /**
   * Something is being sent, `messages` new ones or an edit (0), until the returned function is called: nothing more of the kind for the
   * pause, counted from its end as well.
   */
  used(chat: string, ms: number, messages: 0 | 1): () => void;
}

export interface Limits extends Pace {
  /**
   * Books so many messages, or an edit (`messages` 0): `undefined` when it may go now, else it resolves when it may, when the signal
   * ends it or the account closes.
   */
  admit(chat: string, messages: number, signal: AbortSignal): Promise<void> | undefined;
  /** Milliseconds for which the platform wants nothing in the chat. */
  held(chat: string): number;
  /** A real message is on its way until the returned function is called. */
  sending(chat: string): () => void;
  /** No caller waits any more. */
  close(): void;
}

interface Waiter {
  readonly messages: number;
  go(): void;
}

interface Chat {
  readonly name: string;
  readonly second: Window | undefined;
  readonly minute: Window | undefined;
  readonly waiters: Waiter[];
  /** What was let go last, and has not begun. */
  booked: Slot | undefined;
  heldUntil: number;
  /** For what is unimportant. */
  until: number;
  sending: number;
  timer: NodeJS.Timeout | undefined;
}

/** A clock may be read late, and a connection's end heard early. */
const slackMs = 50;
/** A minute's wait that is a second too long is none. */
const minuteSlackMs = 1_000;
/** How soon a caller who had to give way asks again: not at every place that comes free, since the others do too. */
const againMs = 200;
/** Messages a minute that previews leave to a group's answers. */
const spared = 5;
/** If two chats are held within this time, the bot itself is too fast. */
const togetherMs = 1_000;
const fewChats = 10_000;

export function createLimits({ now, limits }: { readonly now: () => number; readonly limits: AccountOptions["limits"] }): Limits {
  const { perBotPerSecond, perChatPerSecond, perGroupPerMinute } = limits;
  const unlimited = perBotPerSecond === 0 && perChatPerSecond === 0 && perGroupPerMinute === 0;
  const chats = new Map<string, Chat>();
  const bot = createWindow(perBotPerSecond, 1_000 + slackMs);
  /** Chats whose first waiter waits for nothing but the bot. */
  const ready = new Set<Chat>();
  let botHeldUntil = 0;
  let lastHold = { chat: "", at: Number.NEGATIVE_INFINITY };
  let botTimer: NodeJS.Timeout | undefined;
  let sweepAt = fewChats;
  let serving = false;
  let closed = false;

  function of(name: string): Chat {
    const found = chats.get(name);
    if (found !== undefined) return found;
    if (chats.size >= sweepAt) sweep();
    const made: Chat = {
      name,
      second: createWindow(perChatPerSecond, 1_000 + slackMs),
      minute: name.startsWith("-") ? createWindow(perGroupPerMinute, 60_000 + minuteSlackMs) : undefined,
      waiters: [],
      booked: undefined,
      heldUntil: 0,
      until: 0,
      sending: 0,
      timer: undefined,
    };
    chats.set(name, made);
    return made;
  }

  /** Drops what says nothing any more, seldom enough that it costs each chat little. */
  function sweep(): void {
    const at = now();
    for (const chat of chats.values()) if (isIdle(chat, at)) chats.delete(chat.name);
    sweepAt = Math.max(fewChats, chats.size * 2);
  }

  function isIdle({ heldUntil, until, sending, waiters, second, minute }: Chat, at: number): boolean {
    if (sending > 0 || waiters.length > 0 || Math.max(heldUntil, until) > at) return false;
    return second?.isIdle(at) !== false && minute?.isIdle(at) !== false;
  }

  function chatDelay({ heldUntil, second, minute }: Chat, messages: number): number {
    const at = now();
    return Math.max(0, heldUntil - at, second?.delay(at) ?? 0, messages > 0 ? (minute?.delay(at, messages) ?? 0) : 0);
  }

  function botDelay(messages: number): number {
    const at = now();
    // An edit is as much work for the platform as a message.
    return Math.max(0, botHeldUntil - at, bot?.delay(at, Math.max(1, messages)) ?? 0);
  }

  function count({ second, minute }: Chat, slot: Slot): void {
    second?.add(slot);
    bot?.add(slot, Math.max(1, slot.messages));
    if (slot.messages > 0) minute?.add(slot, slot.messages);
  }

  function book(chat: Chat, messages: number): Slot {
    const slot = { at: now(), underWay: false, messages };
    count(chat, slot);
    return slot;
  }

  /** The platform counts what arrives: somewhere between the beginning of the call and its end. */
  function begin(chat: Chat, slot: Slot): () => void {
    const turn = (underWay: boolean) => {
      slot.at = now();
      slot.underWay = underWay;
      // Counted again if it was too long ago to count.
      count(chat, slot);
    };
    turn(true);
    return () => turn(false);
  }

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
    admit(name, messages, signal) {
      if (closed || signal.aborted) return undefined;
      // No limits, and no flood wait: nothing to count.
      if (unlimited && lastHold.chat === "") return undefined;
      const chat = of(name);
      const free = chat.waiters.length === 0 && ready.size === 0 && chatDelay(chat, messages) === 0 && botDelay(messages) === 0;
      if (!free) return wait(chat, messages, signal);
      chat.booked = book(chat, messages);
      return undefined;
    },
    delay(name) {
      const chat = chats.get(name);
      const at = now();
      const bots = botDelay(1);
      const others = ready.size > 0 || bots > 0 ? Math.max(againMs, bots) : 0;
      if (chat === undefined) return others;
      const busy = chat.sending > 0 || chat.waiters.length > 0 ? againMs : 0;
      return Math.max(others, busy, chat.until - at, chatDelay(chat, 0), chat.minute?.delay(at, 1 + spared) ?? 0);
    },
    held(name) {
      return Math.max(0, (chats.get(name)?.heldUntil ?? 0) - now(), botHeldUntil - now());
    },
    hold(name, ms) {
      const at = now();
      const chat = of(name);
      chat.heldUntil = Math.max(chat.heldUntil, at + ms);
      if (lastHold.chat !== "" && lastHold.chat !== name && at - lastHold.at < togetherMs) botHeldUntil = Math.max(botHeldUntil, at + ms);
      lastHold = { chat: name, at };
    },
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
      clearTimeout(botTimer);
      ready.clear();
      for (const chat of chats.values()) {
        clearTimeout(chat.timer);
        for (const { go } of chat.waiters.splice(0)) go();
      }
    },
  };
}
