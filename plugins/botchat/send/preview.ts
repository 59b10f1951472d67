/** The live preview of a reply: the platform's calls, and the limits that it shares with everything else. */
import type { Address, Json, PluginLog } from "service-gateway/sdk";
import {
  ChannelError,
  type ChannelPreview,
  editingPreview,
  growingMarkdown,
  type PreviewCalls,
} from "service-gateway/sdk/channel";
import { id, record } from "../intake/fields.ts";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import type { Pace } from "./limits.ts";
import { blockEnd } from "./preview-blocks.ts";
import type { Reach } from "./reach.ts";
import { markupOptions, messageLimit, textPayload } from "./render.ts";
import { replyFields, sendTarget } from "./send.ts";
import type { Shown } from "./shown.ts";

/** A group accepts 20 messages a minute, edits included; the reply needs some of them. */
const groupEditEveryMs = 3_000;
const editEveryMs = 1_000;

interface PreviewOptions {
  /** The client is created on first use. */
  readonly api: () => Promise<BotApi>;
  readonly address: Address;
  readonly settings: AccountOptions;
  readonly pace: Pace;
  readonly reach: Reach;
  readonly log: PluginLog;
  /** Receives at the end what the messages show. */
  readonly shown: Shown;
  readonly resume: readonly string[];
  /** The message being answered. */
  readonly trigger?: string;
  onMessage(messageIds: readonly string[]): void;
  onUncertain(): void;
}

type Payload = { readonly [key: string]: Json };

/**
 * Fields for sending a preview's message. Only the first makes a sound: it becomes the reply by an edit, which makes
 * none.
 */
function sendFields(index: number, { address, settings, trigger }: PreviewOptions): object {
  const { replyToMode } = settings;
  const replies = replyToMode === "all" || (replyToMode === "first" && index === 0);
  return {
    ...sendTarget(address),
    ...(index > 0 && { disable_notification: true }),
    ...(replies && replyFields(trigger)),
  };
}

function callsOf(options: PreviewOptions): PreviewCalls<Payload> {
  const { api, address, settings } = options;
  const target = (messageId: string) => ({ chat_id: address.chat, message_id: Number(messageId) });
  const messagesOf = growingMarkdown(markupOptions(settings));
  return {
    messagesOf: (text) => messagesOf(text).map((message) => textPayload(message, settings)),
    textOf: ({ text }) => String(text),
    async post(payload, index, signal) {
      const sent = await (await api()).call(
        "sendMessage",
        { ...sendFields(index, options), ...payload } as never,
        signal,
      );
      const messageId = id(record(sent as never)?.message_id);
      if (messageId !== undefined) return messageId;
      throw new ChannelError("bad_answer", { fate: "unknown", detail: "sendMessage: the answer names no message" });
    },
    async edit(messageId, payload, signal) {
      await (await api()).call("editMessageText", { ...payload, ...target(messageId) } as never, signal);
    },
    async remove(messageId, signal) {
      await (await api()).call("deleteMessage", target(messageId), signal);
    },
  };
}

/** The part of a growing text that is shown: all of it, or its whole blocks. */
function createVisible({ streamMode, draftChunk, textChunkLimit }: AccountOptions): (text: string) => string {
  let blockAt = 0;
  let blocks = "";
  return (text) => {
    if (streamMode !== "block") return text;
    // Another text, such as that of the next model after one that broke off.
    if (!text.startsWith(blocks)) blockAt = 0;
    blockAt = blockEnd(text, blockAt, draftChunk, Math.min(textChunkLimit, messageLimit));
    blocks = text.slice(0, blockAt);
    return blocks;
  };
}

export function createPreview(options: PreviewOptions): ChannelPreview {
  const { address, pace, reach, log, shown, resume, onMessage } = options;
  const { chat } = address;
  const visible = createVisible(options.settings);
  const preview = editingPreview(callsOf(options), {
    ...{ resume, onMessage, log },
    onUncertain() {
      reach.lost();
      options.onUncertain();
    },
    pace: {
      everyMs: chat.startsWith("-") ? groupEditEveryMs : editEveryMs,
      delay: () => pace.delay(chat),
      hold: (ms) => pace.hold(chat, ms),
      used: (everyMs, { posts }) => pace.used(chat, everyMs, posts ? 1 : 0),
      answers: () => !reach.isLost(),
    },
    onClose(messages) {
      for (const { messageId, message } of messages) if (message !== undefined) shown.keep(chat, messageId, message);
    },
  });
  return { update: (text) => preview.update(visible(text)), close: preview.close };
}
