/** Sends parts: a message, an edit of one, one for a single person, files. */
import type { Address, Json } from "service-gateway/sdk";
import {
  type ChannelConnection,
  ChannelError,
  createTokenBucket,
  type Part,
  type Receipt,
  refusedCall,
  type TokenBucket,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { SlackApi } from "./api.ts";
import type { Chats } from "./chats.ts";
import { emojiName } from "./emoji.ts";
import { isTimestamp, list, record, text } from "./fields.ts";
import { isPlatformUrl } from "./options.ts";
import { type FilesBody, type TextBody, textFields } from "./render.ts";
import { type Upload, uploadFiles } from "./upload.ts";

type Calls = Required<Pick<ChannelConnection, "admit" | "send" | "remove" | "react">>;
type Body = Readonly<Record<string, Json>>;

/** One message a second in each channel; short bursts are allowed. */
const pace = { burst: 3, everyMs: 1_000 } as const;
const mostBuckets = 1_000;
const mostReactions = 1_000;

export function createSender({
  api,
  chats,
  apiUrl,
  now,
}: {
  readonly api: SlackApi;
  readonly chats: Chats;
  readonly apiUrl: string;
  now(): number;
}): Calls {
  const buckets = new Map<string, TokenBucket>();
  const reactions = new Map<string, string>();

  function messageIdOf(answer: Readonly<Record<string, unknown>>, call: string): string {
    const ts = answer.ts ?? answer.message_ts;
    if (!isTimestamp(ts))
      throw new ChannelError("bad_answer", { fate: "unknown", detail: `${call}: the answer names no message` });
    return ts;
  }

  async function post(channel: string, fields: Body, { thread }: Address, signal: AbortSignal): Promise<Receipt> {
    const answer = await api.call("chat.postMessage", { channel, ...fields, thread_ts: thread }, { signal });
    return { messageId: messageIdOf(answer, "chat.postMessage") };
  }

  /** An answer to a press or a slash command may be in a channel that the app is not in. */
  async function answerInteraction(
    url: string,
    fields: Body,
    { thread }: Address,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!isPlatformUrl(url, apiUrl)) return false;
    const call = "response_url";
    const body = JSON.stringify({
      ...fields,
      ...{ response_type: "ephemeral", replace_original: false },
      ...(thread !== undefined && { thread_ts: thread }),
    });
    const headers = { "content-type": "application/json; charset=utf-8" };
    const response = await fetchWhole(url, {
      method: "POST",
      headers,
      body,
      maxBytes: 100_000,
      timeoutMs: 30_000,
      signal,
    }).catch((error: unknown) => {
      throw unansweredCall(error, { call });
    });
    if (response.ok) return true;
    // The address is used up: it takes five answers, for half an hour.
    if (response.status === 404 || response.status === 410) return false;
    throw refusedCall({ ...response, body: {} }, { call });
  }

  async function showOne(
    { sender, interaction }: NonNullable<Part["onlyFor"]>,
    { channel, fields, address }: { readonly channel: string; readonly fields: Body; readonly address: Address },
    signal: AbortSignal,
  ): Promise<Receipt> {
    if (interaction !== undefined && (await answerInteraction(interaction, fields, address, signal)))
      return { messageId: `for-${sender}-${now()}` };
    const { unfurl_links: _links, unfurl_media: _media, ...rest } = fields;
    const args = { channel, user: sender, ...rest, thread_ts: address.thread };
    return { messageId: messageIdOf(await api.call("chat.postEphemeral", args, { signal }), "chat.postEphemeral") };
  }

  /** The buttons that a message has, because an edit replaces all of its blocks. */
  async function buttonsOf(
    channel: string,
    ts: string,
    { thread }: Address,
    signal: AbortSignal,
  ): Promise<TextBody["rows"]> {
    const at = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1 };
    const answer = await (thread === undefined
      ? api.call("conversations.history", at, { signal })
      : api.call("conversations.replies", { ...at, ts: thread, limit: 2 }, { signal }));
    const message = list(answer.messages)
      .map(record)
      .find((one) => one?.ts === ts);
    return list(message?.blocks).filter((block) => record(block)?.type === "actions") as TextBody["rows"];
  }

  /** `undefined`: there is no such message any more. An edit is the same if it is made twice. */
  async function edit(
    channel: string,
    { body, ts, keeps }: { readonly body: TextBody; readonly ts: string; readonly keeps: boolean },
    address: Address,
    signal: AbortSignal,
  ): Promise<Receipt | undefined> {
    try {
      const rows = body.rows ?? (keeps ? await buttonsOf(channel, ts, address, signal) : []) ?? [];
      const {
        reply_broadcast: _shown,
        unfurl_links: _links,
        unfurl_media: _media,
        ...fields
      } = textFields({ ...body, rows });
      await api.call("chat.update", { channel, ts, ...fields }, { signal });
      return { messageId: ts };
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      if (error.reason === "message_gone") return undefined;
      if (error.fate !== "unknown") throw error;
      throw new ChannelError(error.reason, { retryable: true, detail: error.message, cause: error });
    }
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
      const channel = await chats.find(address.chat, signal);
      const body = part.body as unknown as TextBody | FilesBody;
      if ("files" in body) {
        const uploads: readonly Upload[] = body.files;
        return await uploadFiles(uploads, { api, apiUrl, channel, thread: address.thread, signal });
      }
      if (part.onlyFor !== undefined)
        return await showOne(part.onlyFor, { channel, fields: textFields(body), address }, signal);
      if (part.replaces !== undefined) {
        const how = { body, ts: part.replaces, keeps: part.inPlace === true };
        const edited = await edit(channel, how, address, signal);
        if (edited !== undefined) return edited;
        if (part.inPlace === true)
          throw new ChannelError("message_gone", { detail: "the message to change is gone, or is not the bot's" });
      }
      return await post(channel, textFields(body), address, signal);
    },
    async remove(messageId, { chat }, signal) {
      const channel = await chats.find(chat, signal);
      if (isTimestamp(messageId)) await api.call("chat.delete", { channel, ts: messageId }, { signal });
      else await api.call("files.delete", { file: messageId }, { signal });
    },
    async react(messageId, emoji, { chat }) {
      const channel = await chats.find(chat);
      const key = `${channel}:${messageId}`;
      const before = reactions.get(key);
      const name = emoji === null ? undefined : emojiName(emoji);
      if (emoji !== null && name === undefined)
        throw new ChannelError("reaction_invalid", {
          detail: "Slack has no name for this emoji; name it, such as eyes",
        });
      const set = async (method: string, one: string, done: string) => {
        try {
          await api.call(method, { channel, timestamp: messageId, name: one });
        } catch (error) {
          if (!(error instanceof ChannelError && error.message.endsWith(`: ${done}`))) throw error;
        }
      };
      if (name !== undefined) await set("reactions.add", name, "already_reacted");
      if (before !== undefined && before !== name) await set("reactions.remove", before, "no_reaction");
      reactions.delete(key);
      if (name !== undefined) reactions.set(key, name);
      if (reactions.size > mostReactions) reactions.delete(reactions.keys().next().value as string);
    },
  };
}

/** A sentence for a person whose press has no effect. */
export async function noticeTo(
  api: SlackApi,
  payload: Readonly<Record<string, unknown>>,
  notice: string,
): Promise<void> {
  const container = record(payload.container) ?? {};
  const channel = text(container.channel_id) ?? text(record(payload.channel)?.id);
  const user = text(record(payload.user)?.id);
  if (channel === undefined || user === undefined) return;
  const thread = text(record(payload.message)?.thread_ts);
  const escaped = notice.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  await api.call("chat.postEphemeral", { channel, user, text: escaped, thread_ts: thread });
}
