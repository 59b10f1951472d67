/** Sends parts: a message, an edit of one, one for a single person, files. */
import { type ChannelConnection, ChannelError, createTokenBucket, type TokenBucket } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { isTimestamp, messageIdOf } from "../fields.ts";
import type { Chats } from "./chats.ts";
import { editMessage } from "./edit.ts";
import { showOne } from "./ephemeral.ts";
import { type FilesBody, type TextBody, textFields } from "./render.ts";
import { uploadFiles } from "./upload.ts";

type Calls = Required<Pick<ChannelConnection, "admit" | "send" | "remove">>;

/** One message a second in each channel; short bursts are allowed. */
const pace = { burst: 3, everyMs: 1_000 } as const;
const mostBuckets = 1_000;

export function createSender(
  api: SlackApi,
  { chats, apiUrl, now, newId }: { chats: Chats; apiUrl: string; now(): number; newId(): string },
): Calls {
  const buckets = new Map<string, TokenBucket>();
  return {
    admit(_part, { chat }, signal) {
      const bucket = buckets.get(chat) ?? createTokenBucket({ ...pace, now });
      buckets.delete(chat);
      buckets.set(chat, bucket);
      if (buckets.size > mostBuckets) buckets.delete(buckets.keys().next().value as string);
      return bucket.take(signal);
    },
    async send({ body: given, onlyFor, replaces, inPlace = false }, address, signal) {
      const channel = await chats.find(address.chat, signal);
      const { thread } = address;
      const body = given as unknown as TextBody | FilesBody;
      if ("files" in body) return await uploadFiles(body.files, { api, apiUrl, channel, thread, signal });
      const fields = textFields(body);
      if (onlyFor !== undefined)
        return await showOne(onlyFor, { channel, fields, address }, { api, apiUrl, newId, signal });
      if (replaces !== undefined) {
        const change = { channel, ts: replaces, body, keepsButtons: inPlace, address };
        const edited = await editMessage(api, change, signal);
        if (edited !== undefined) return edited;
      }
      if (inPlace)
        throw new ChannelError("message_gone", { detail: "the message to change is gone, or is not the bot's" });
      const answer = await api.call("chat.postMessage", { channel, ...fields, thread_ts: thread }, { signal });
      return { messageId: messageIdOf(answer, "chat.postMessage") };
    },
    async remove(messageId, { chat }, signal) {
      const channel = await chats.find(chat, signal);
      if (isTimestamp(messageId)) await api.call("chat.delete", { channel, ts: messageId }, { signal });
      else await api.call("files.delete", { file: messageId }, { signal });
    },
  };
}
