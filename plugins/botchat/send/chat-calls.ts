/** Calls to one chat. They keep to the platform's rate limits, and a flood wait of one call holds the chat for all. */
import type { PluginLog } from "service-gateway/sdk";
import { type ChannelConnection, ChannelError, type ChannelPreview, pause } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import type { Limits } from "./limits.ts";
import { bodyOf, messagesIn } from "./part-body.ts";
import { createPreview } from "./preview.ts";
import type { Reach } from "./reach.ts";
import { actionTarget, type Sender } from "./send.ts";
import type { Shown } from "./shown.ts";

/** How long a reaction waits behind messages; a later one would no longer be useful. */
const mostReactionMs = 3_000;

/**
 * A preview that shows nothing more. It still returns the messages that an earlier process left behind, so that the
 * reply replaces them or they are removed.
 */
const noPreview = (resume: readonly string[]): ChannelPreview => ({ update() {}, close: async () => resume });

type Call = "admit" | "send" | "remove" | "preview" | "react" | "typing";

export interface ChatCalls extends Required<Pick<ChannelConnection, Call>> {
  /** Resolves when no send is in progress. */
  settled(): Promise<unknown>;
}

export function createChatCalls(parts: {
  readonly limits: Limits;
  readonly shown: Shown;
  readonly reach: Reach;
  /** The client and its sender, created on first use. `loaded` returns them if they exist already. */
  readonly live: () => Promise<{ readonly api: BotApi; readonly sender: Sender }>;
  readonly loaded: () => { readonly sender: Sender } | undefined;
  readonly settings: () => AccountOptions;
  readonly log: PluginLog;
  /** Aborted when the account closes. */
  readonly signal: AbortSignal;
}): ChatCalls {
  const { limits, shown, reach, live, loaded, settings, log, signal } = parts;
  /** Sends in progress. */
  const open = new Set<Promise<unknown>>();

  /** While the platform accepts nothing in a chat, no call is attempted. */
  function refuseHeld(chat: string): void {
    const held = limits.held(chat);
    if (held > 0)
      throw new ChannelError("flood_wait", {
        retryable: true,
        retryAfterMs: held,
        detail: "the platform asked to wait",
      });
  }

  /** A flood wait holds its chat, whichever call caused it. */
  function heeded(chat: string, error: unknown): unknown {
    if (error instanceof ChannelError && error.reason === "flood_wait") limits.hold(chat, error.retryAfterMs ?? 1_000);
    return error;
  }

  /**
   * Lets what is more important go first, and waits while the platform accepts nothing in the chat; neither for long.
   */
  async function giveWay(chat: string, patience: AbortSignal): Promise<void> {
    const last = performance.now() + mostReactionMs;
    // A timer may end two milliseconds early, so it is asked again whether the chat is held.
    for (let delay = limits.delay(chat); delay > 0 && !patience.aborted; delay = limits.held(chat)) {
      const left = last - performance.now();
      if (left <= 0) return;
      await pause(Math.min(delay + 1, left), patience);
    }
  }

  return {
    admit(part, address, admitSignal) {
      if (shown.has(part, address)) return undefined;
      const messages = part.replaces === undefined ? messagesIn(part) : 0;
      return limits.admit(address.chat, { messages, joins: bodyOf(part).joins === true }, admitSignal);
    },
    async send(part, address, sendSignal) {
      const { sender } = loaded() ?? (await live());
      refuseHeld(address.chat);
      const done = limits.sending(address.chat);
      const sending = sender.send(part, address, sendSignal);
      open.add(sending);
      try {
        return await sending;
      } catch (error) {
        if (error instanceof ChannelError && error.fate === "unknown") reach.lost();
        throw heeded(address.chat, error);
      } finally {
        open.delete(sending);
        done();
      }
    },
    async remove(messageId, address, removeSignal) {
      const { api } = await live();
      refuseHeld(address.chat);
      try {
        await api.call("deleteMessage", { chat_id: address.chat, message_id: Number(messageId) }, removeSignal);
      } catch (error) {
        if (!(error instanceof ChannelError && error.reason === "message_gone")) throw heeded(address.chat, error);
      }
    },
    preview(address, { resume, trigger, onMessage, onUncertain = () => {} }) {
      const options = settings();
      if (options.streamMode === "off" || options.blockStreaming === true) return noPreview(resume);
      return createPreview({
        api: async () => (await live()).api,
        address,
        settings: options,
        pace: limits,
        ...{ shown, reach, log, resume },
        ...(trigger !== undefined && { trigger }),
        onMessage,
        onUncertain,
      });
    },
    async react(messageId, emoji, address, patience = signal) {
      const { api } = await live();
      await giveWay(address.chat, patience === signal ? signal : AbortSignal.any([signal, patience]));
      if (patience.aborted)
        throw new ChannelError("aborted", { retryable: true, detail: "the reaction is no longer needed" });
      refuseHeld(address.chat);
      const reaction = emoji === null ? [] : [{ type: "emoji" as const, emoji: emoji as never }];
      try {
        await api.call(
          "setMessageReaction",
          { chat_id: address.chat, message_id: Number(messageId), reaction },
          signal,
        );
      } catch (error) {
        throw heeded(address.chat, error);
      }
    },
    async typing(address) {
      const { api } = await live();
      if (limits.delay(address.chat) > 0) return;
      await api.call("sendChatAction", { ...actionTarget(address), action: "typing" } as never, signal);
    },
    settled: () => Promise.allSettled([...open]),
  };
}
