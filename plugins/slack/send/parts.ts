/** Sends parts: a message, an edit of one, one for a single person, files. */
import type { Address } from "service-gateway/sdk";
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  createTokenBucket,
  type Part,
  type Receipt,
  type TokenBucket,
} from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { isTimestamp, messageIdOf } from "../fields.ts";
import type { Chats } from "./chats.ts";
import { editMessage } from "./edit.ts";
import { showOne } from "./ephemeral.ts";
import { type FilesBody, type TextBody, textFields } from "./render.ts";
import { createSentBefore } from "./sent-before.ts";
import { uploadFiles } from "./upload.ts";

type Calls = Required<Pick<ChannelConnection, "admit" | "send" | "remove">>;

/** One message a second in each channel; short bursts are allowed. */
const pace = { burst: 3, everyMs: 1_000 } as const;
const mostBuckets = 1_000;

export function createSender(
  api: SlackApi,
  { chats, apiUrl, now, newId, log }: { chats: Chats; apiUrl: string } & Pick<ChannelAccount, "now" | "newId" | "log">,
): Calls {
  const buckets = new Map<string, TokenBucket>();
  const sentBefore = createSentBefore(api, { now, log });

  async function post(
    { channel, thread }: { readonly channel: string; readonly thread: string | undefined },
    { fields, key }: { readonly fields: ReturnType<typeof textFields>; readonly key: string | undefined },
    signal: AbortSignal,
  ): Promise<Receipt> {
    const there = await sentBefore.find({ channel, thread }, key, signal);
    if (there !== undefined) return { messageId: there };
    const args = { channel, ...fields, thread_ts: thread, metadata: sentBefore.mark(key) };
    try {
      const messageId = messageIdOf(await api.call("chat.postMessage", args, { signal }), "chat.postMessage");
      sentBefore.ended({ channel, thread }, true);
      return { messageId };
    } catch (error) {
      sentBefore.ended({ channel, thread }, error instanceof ChannelError && error.fate === "not-sent");
      throw error;
    }
  }

  async function sendTo(
    channel: string,
    { body: given, key, onlyFor, replaces, inPlace }: Part,
    address: Address,
    signal: AbortSignal,
  ): Promise<Receipt> {
    const { thread } = address;
    const body = given as unknown as TextBody | FilesBody;
    if ("files" in body) {
      if (onlyFor !== undefined)
        throw new ChannelError("media_refused", { detail: "Slack shows files to everyone in a channel" });
      return await uploadFiles(body.files, { api, apiUrl, channel, thread, signal });
    }
    const fields = textFields(body);
    if (onlyFor !== undefined)
      return await showOne(onlyFor, { channel, fields, address }, { api, apiUrl, newId, signal });
    if (replaces !== undefined) {
      const change = { channel, ts: replaces, body, keepsButtons: inPlace === true, address };
      const edited = await editMessage(api, change, signal);
      if (edited !== undefined) return edited;
    }
    if (inPlace)
      throw new ChannelError("message_gone", { detail: "the message to change is gone, or is not the bot's" });
    return await post({ channel, thread }, { fields, key }, signal);
  }

  return {
    admit(_part, { chat }, signal) {
      const bucket = buckets.get(chat) ?? createTokenBucket({ ...pace, now });
      buckets.delete(chat);
      buckets.set(chat, bucket);
      if (buckets.size > mostBuckets) buckets.delete(buckets.keys().next().value as string);
      return bucket.take(signal);
    },
    async send(part, address, signal) {
      try {
        return await sendTo(await chats.find(address.chat, signal), part, address, signal);
      } catch (error) {
        const isElsewhere = error instanceof ChannelError && error.reason === "chat_not_found";
        if (!isElsewhere || !(await chats.forget(address.chat))) throw error;
        return await sendTo(await chats.find(address.chat, signal), part, address, signal);
      }
    },
    async remove(messageId, { chat }, signal) {
      const channel = await chats.find(chat, signal);
      if (isTimestamp(messageId)) await api.call("chat.delete", { channel, ts: messageId }, { signal });
      else await api.call("files.delete", { file: messageId }, { signal });
    },
  };
}
