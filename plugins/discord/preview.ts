/** A reply while it grows. */
import type { Address } from "service-gateway/sdk";
import {
  type ChannelPreview,
  editingPreview,
  growingMarkdown,
  type MarkupMessage,
  type Part,
} from "service-gateway/sdk/channel";
import { type Body, markup } from "./render.ts";
import type { createSender } from "./send.ts";

/** Milliseconds between edits: the platform takes five in five seconds. */
const everyMs = 1_200;
const suppressNotifications = 1 << 12;

type How = Omit<Parameters<typeof editingPreview>[1], "pace"> & { readonly trigger?: string };

export function previewOf(sender: ReturnType<typeof createSender>, address: Address, how: How): ChannelPreview {
  const partOf = ({ markup: content }: MarkupMessage, index: number): Part => {
    // Only the first message makes a sound, and refers to the message that is answered.
    const body: Body = { content, message: index === 0 ? {} : { flags: suppressNotifications }, files: [] };
    const reference = index === 0 && how.trigger !== undefined ? { replyTo: how.trigger } : {};
    return { kind: "preview", chars: content.length, body, ...reference };
  };
  return editingPreview<MarkupMessage>(
    {
      messagesOf: growingMarkdown(markup),
      textOf: ({ markup: content }) => content,
      post: async (message, index, signal) => (await sender.send(partOf(message, index), address, signal)).messageId,
      edit: async (messageId, message, signal) => {
        await sender.send({ ...partOf(message, 1), replaces: messageId, inPlace: true }, address, signal);
      },
      remove: (messageId, signal) => sender.remove(messageId, address, signal),
    },
    { ...how, pace: { everyMs } },
  );
}
