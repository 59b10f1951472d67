/**
 * Records what was sent to each chat, and by the bot as a whole, to compute how long the next message has to wait for
 * the platform's rate limits.
 */
import type { AccountOptions } from "../options.ts";
import { createWindow, type Slot, type Window } from "./window.ts";

export interface Waiter {
  readonly messages: number;
  go(): void;
}

export interface Chat {
  readonly name: string;
  readonly second: Window | undefined;
  readonly minute: Window | undefined;
  readonly waiters: Waiter[];
  /** The call that was admitted last and has not begun. */
  booked: Slot | undefined;
  heldUntil: number;
  /** Until when unimportant calls have to wait. */
  until: number;
  sending: number;
  timer: NodeJS.Timeout | undefined;
}

/** Allows for a clock that is read late, and for a response that arrives early. */
const slackMs = 50;
/** A second more is insignificant in a wait of a minute. */
const minuteSlackMs = 1_000;
/** If two chats are held within this time, the bot itself is too fast. */
const togetherMs = 1_000;
const fewChats = 10_000;

export interface ChatLimits {
  of(name: string): Chat;
  /** The chat, if anything is recorded about it. */
  known(name: string): Chat | undefined;
  all(): Iterable<Chat>;
  /**
   * Milliseconds that `messages` new messages, or an edit (0), have to wait for their chat. `joins`: the limit of a
   * second does not delay them.
   */
  chatDelay(chat: Chat, messages: number, joins?: boolean): number;
  /** The same for the bot as a whole. */
  botDelay(messages: number): number;
  /** Milliseconds for which the platform accepts nothing in the chat. */
  held(name: string): number;
  hold(name: string, ms: number): void;
  /**
   * Applies a wait that the platform demanded from an earlier process. Without a name, it applies to the bot as a
   * whole.
   */
  holdAgain(name: string | undefined, ms: number): void;
  /** Whether the platform has ever demanded a wait. */
  wasHeld(): boolean;
  /** Counts a call that may start now. */
  book(chat: Chat, messages: number): Slot;
  /** A booked call begins; it has ended when the returned function is called. */
  begin(chat: Chat, slot: Slot): () => void;
}

export interface ChatLimitsOptions {
  readonly now: () => number;
  readonly limits: AccountOptions["limits"];
  /** Called when the platform demands a wait; without a chat if it holds the bot as a whole. */
  readonly onHold?: (chat: string | undefined, ms: number) => void;
}

export function createChatLimits({ now, limits, onHold = () => {} }: ChatLimitsOptions): ChatLimits {
  const { perBotPerSecond, perChatPerSecond, perGroupPerMinute } = limits;
  const chats = new Map<string, Chat>();
  const bot = createWindow(perBotPerSecond, 1_000 + slackMs);
  let botHeldUntil = 0;
  let lastHold = { chat: "", at: Number.NEGATIVE_INFINITY };
  let heldBefore = false;
  let sweepAt = fewChats;

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

  /** Removes outdated entries, rarely enough that it costs each chat little. */
  function sweep(): void {
    const at = now();
    for (const chat of chats.values()) if (isIdle(chat, at)) chats.delete(chat.name);
    sweepAt = Math.max(fewChats, chats.size * 2);
  }

  function isIdle({ heldUntil, until, sending, waiters, second, minute }: Chat, at: number): boolean {
    if (sending > 0 || waiters.length > 0 || Math.max(heldUntil, until) > at) return false;
    return second?.isIdle(at) !== false && minute?.isIdle(at) !== false;
  }

  function chatDelay({ heldUntil, second, minute }: Chat, messages: number, joins = false): number {
    const at = now();
    const pause = joins ? 0 : (second?.delay(at) ?? 0);
    return Math.max(0, heldUntil - at, pause, messages > 0 ? (minute?.delay(at, messages) ?? 0) : 0);
  }

  function botDelay(messages: number): number {
    const at = now();
    // For the platform an edit is as much work as a message.
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

  /** The platform counts a call when it arrives, at some time between its beginning and its end. */
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

  return {
    ...{ of, chatDelay, botDelay, book, begin },
    known: (name) => chats.get(name),
    all: () => chats.values(),
    held: (name) => Math.max(0, (chats.get(name)?.heldUntil ?? 0) - now(), botHeldUntil - now()),
    hold(name, ms) {
      const at = now();
      const chat = of(name);
      chat.heldUntil = Math.max(chat.heldUntil, at + ms);
      const holdsBot = lastHold.chat !== "" && lastHold.chat !== name && at - lastHold.at < togetherMs;
      if (holdsBot) botHeldUntil = Math.max(botHeldUntil, at + ms);
      lastHold = { chat: name, at };
      onHold(name, ms);
      if (holdsBot) onHold(undefined, ms);
    },
    holdAgain(name, ms) {
      heldBefore = true;
      if (name === undefined) botHeldUntil = Math.max(botHeldUntil, now() + ms);
      else of(name).heldUntil = Math.max(of(name).heldUntil, now() + ms);
    },
    wasHeld: () => heldBefore || lastHold.chat !== "",
  };
}
