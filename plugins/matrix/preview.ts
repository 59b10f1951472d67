/** A message that grows by edits. */
import {
  type ChannelAccount,
  type ChannelConnection,
  editingPreview,
  growingMarkdown,
  type MarkupMessage,
} from "service-gateway/sdk/channel";
import { contentOf, markup, type Place, textBody } from "./content.ts";
import type { Options } from "./options.ts";
import { type Posting, previewEveryMs } from "./posting.ts";

export function createPreviews(
  account: ChannelAccount<Options>,
  options: () => Options,
  posting: Posting,
): NonNullable<ChannelConnection["preview"]> {
  return ({ chat, thread }, how) => {
    const { trigger, key = account.newId() } = how;
    /** How often the message at each place was sent: one that was removed must not be taken for a new one. */
    const posts: number[] = [];
    // In a direct chat, the room of the first message is that of all.
    let room: string | undefined;
    const place = async (signal: AbortSignal) => {
      room ??= await posting.openRoom(chat, signal);
      return room;
    };
    async function put(message: MarkupMessage, at: Omit<Place, "isNotice">, id: string, signal: AbortSignal) {
      const content = contentOf(textBody(message), { ...at, isNotice: options().notices });
      return await posting.put(await place(signal), { type: "m.room.message", key: id, content }, signal);
    }
    return editingPreview<MarkupMessage>(
      {
        messagesOf: growingMarkdown(markup),
        textOf: ({ markup: text }) => text,
        post(message, index, signal) {
          const replyTo = index === 0 && chat.startsWith("!") && thread === undefined ? trigger : undefined;
          const count = posts[index] ?? 0;
          posts[index] = count + 1;
          return put(message, { thread, replyTo }, `${key}.${index}.${count}`, signal);
        },
        edit: async (replaces, message, signal) => void (await put(message, { replaces }, account.newId(), signal)),
        remove: async (id, signal) => posting.redact(await place(signal), id, signal),
      },
      { ...how, log: account.log, pace: { everyMs: previewEveryMs, delay: posting.delay, hold: posting.hold } },
    );
  };
}
