/** The messages of a live preview: what they show, and the next call that brings them closer to the newest text. */
import type { Address, Json } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";
import { id, record } from "../intake/fields.ts";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createGrowingText } from "./growing-text.ts";
import { blockEnd } from "./preview-blocks.ts";
import { messageLimit } from "./render.ts";
import { replyFields, sendTarget } from "./send.ts";
import type { Shown } from "./shown.ts";

/** How many characters at the end of a growing text may be replaced by others. */
const mostFlicker = 120;

/** Fewer characters are not worth a notification. */
export const leastChars = 30;

export interface PreviewMessagesOptions {
  /** The client is created on first use. */
  readonly api: () => Promise<BotApi>;
  readonly address: Address;
  readonly settings: AccountOptions;
  /** Receives at the end what the messages show. */
  readonly shown: Shown;
  readonly resume: readonly string[];
  /** The message being answered. */
  readonly trigger?: string;
  onMessage(messageIds: readonly string[]): void;
}

type Payload = { readonly [key: string]: Json };

export interface Change {
  /** The first message that does not show what it should. */
  readonly index: number;
  /** What it should show; `null`: the message is removed, because the text starts over. */
  readonly payload: Payload | null;
}

/**
 * Whether a message shows what the other has begun. The end of a growing text may change, such as by the tag that
 * follows.
 */
function continues(payload: Payload | undefined, begun: Payload): boolean {
  const [now, before] = [payload?.text, begun.text];
  if (typeof now !== "string" || typeof before !== "string") return true;
  return now.startsWith(before.slice(0, Math.min(now.length, before.length) - mostFlicker));
}

/**
 * Fields for sending a preview's message. Only the first makes a sound: it becomes the reply by an edit, which makes
 * none.
 */
function sendFields(
  index: number,
  { address, settings, trigger }: Pick<PreviewMessagesOptions, "address" | "settings" | "trigger">,
): object {
  const { replyToMode } = settings;
  const replies = replyToMode === "all" || (replyToMode === "first" && index === 0);
  return {
    ...sendTarget(address),
    ...(index > 0 && { disable_notification: true }),
    ...(replies && replyFields(trigger)),
  };
}

export interface PreviewMessages {
  /**
   * The first difference between the text and what is shown. `undefined`: everything is shown, or there is too little
   * to begin with.
   */
  next(text: string): Change | undefined;
  /** Whether the change sends a message rather than editing one. */
  sends(change: Change): boolean;
  /** Makes the call. Until it has resolved, it is unknown what the message shows. */
  apply(change: Change, signal: AbortSignal): Promise<void>;
  /** The platform reported that the message already shows it. */
  confirm(change: Change): void;
  /** Removes what an earlier text has left behind its first message, at the end of a text that started over. */
  clear(text: string, signal: AbortSignal): Promise<void>;
  /** Passes on what the messages show, and returns their ids. */
  keep(): readonly string[];
}

export function createPreviewMessages(options: PreviewMessagesOptions): PreviewMessages {
  const { address, settings } = options;
  const ids = [...options.resume];
  /** What each message shows, as far as this process knows. */
  const shown: (Payload | undefined)[] = ids.map(() => undefined);
  /**
   * What the first message was last asked to show. Unlike `shown`, it is known after a failed edit: both texts begin
   * alike.
   */
  let begun: Payload | undefined;
  const messagesOf = createGrowingText(settings);
  /** The text that is completely shown. */
  let whole: string | undefined;
  let blockAt = 0;
  let blocks = "";

  function visible(wanted: string): string {
    if (settings.streamMode !== "block") return wanted;
    // Another text, such as that of the next model after one that broke off.
    if (!wanted.startsWith(blocks)) blockAt = 0;
    blockAt = blockEnd(wanted, blockAt, settings.draftChunk, Math.min(settings.textChunkLimit, messageLimit));
    blocks = wanted.slice(0, blockAt);
    return blocks;
  }

  /**
   * A text that starts over keeps the first message only. The others are removed first, so that two texts are never
   * read as one.
   */
  function surplus(messages: readonly Payload[]): Change | undefined {
    const isAnew = messages.length > 0 && begun !== undefined && !continues(messages[0], begun);
    return isAnew && ids.length > 1 ? { index: ids.length - 1, payload: null } : undefined;
  }

  async function remove(index: number, signal: AbortSignal): Promise<void> {
    const messageId = ids[index];
    const api = await options.api();
    if (messageId !== undefined)
      await api.call("deleteMessage", { chat_id: address.chat, message_id: Number(messageId) }, signal);
    forget(index);
  }

  function forget(index: number): void {
    ids.splice(index, 1);
    shown.splice(index, 1);
    options.onMessage([...ids]);
  }

  return {
    next(wanted) {
      const text = visible(wanted);
      if (text === whole) return undefined;
      whole = undefined;
      if (text.trim().length < leastChars && ids.length === 0) return undefined;
      const messages = messagesOf(text);
      const left = surplus(messages);
      if (left !== undefined) return left;
      for (const [index, payload] of messages.entries()) {
        if (shown[index]?.text !== payload.text) return { index, payload };
      }
      whole = text;
      return undefined;
    },
    sends: ({ index }) => ids[index] === undefined,
    async apply({ index, payload }, signal) {
      if (payload === null) return await remove(index, signal);
      const api = await options.api();
      const existing = ids[index];
      shown[index] = undefined;
      if (index === 0) begun = payload;
      if (existing !== undefined) {
        await api.call(
          "editMessageText",
          { ...payload, chat_id: address.chat, message_id: Number(existing) } as never,
          signal,
        );
      } else {
        const sent = await api.call("sendMessage", { ...sendFields(index, options), ...payload } as never, signal);
        const messageId = id(record(sent as never)?.message_id);
        if (messageId === undefined) {
          throw new ChannelError("bad_answer", { fate: "unknown", detail: "sendMessage: the answer names no message" });
        }
        ids.push(messageId);
        options.onMessage([...ids]);
      }
      shown[index] = payload;
    },
    confirm({ index, payload }) {
      if (payload === null) forget(index);
      else shown[index] = payload;
    },
    async clear(text, signal) {
      if (ids.length < 2 || text === "") return;
      const messages = messagesOf(text);
      for (let left = surplus(messages); left !== undefined; left = surplus(messages)) await remove(left.index, signal);
    },
    keep() {
      for (const [index, messageId] of ids.entries()) {
        const payload = shown[index];
        if (payload !== undefined) options.shown.keep(address.chat, messageId, payload);
      }
      return [...ids];
    },
  };
}
