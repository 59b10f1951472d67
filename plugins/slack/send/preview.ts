/** A reply that grows: a message that is edited once a second, the most that Slack allows in a channel. */
import {
  type ChannelAccount,
  type ChannelConnection,
  editingPreview,
  growingMarkdown,
  type MarkupMessage,
} from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { messageIdOf } from "../fields.ts";
import type { Chats } from "./chats.ts";
import { maxChars, textFields } from "./render.ts";

const everyMs = 1_000;

export function createPreview(
  api: SlackApi,
  { chats, log }: { readonly chats: Chats; readonly log: ChannelAccount["log"] },
): NonNullable<ChannelConnection["preview"]> {
  return ({ chat, thread }, how) => {
    const find = (signal: AbortSignal) => chats.find(chat, signal);
    return editingPreview<MarkupMessage>(
      {
        messagesOf: growingMarkdown({ dialect: "mrkdwn", limit: maxChars }),
        textOf: ({ markup }) => markup,
        async post({ markup }, _index, signal) {
          const args = { channel: await find(signal), ...textFields({ text: markup }), thread_ts: thread };
          return messageIdOf(await api.call("chat.postMessage", args, { signal }), "chat.postMessage");
        },
        async edit(ts, { markup }, signal) {
          await api.call("chat.update", { channel: await find(signal), ts, text: markup }, { signal });
        },
        async remove(ts, signal) {
          await api.call("chat.delete", { channel: await find(signal), ts }, { signal });
        },
      },
      { ...how, pace: { everyMs, delay: () => api.heldMs("chat.update") }, log },
    );
  };
}
