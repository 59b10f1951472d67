/** Messages that one person alone sees. */
import type { Address, Json } from "service-gateway/sdk";
import { type Part, type Receipt, refusedCall, unansweredCall } from "service-gateway/sdk/channel";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { SlackApi } from "../api.ts";
import { type Fields, messageIdOf, record, text } from "../fields.ts";
import { isPlatformUrl } from "../options.ts";

interface Message {
  readonly channel: string;
  readonly fields: Readonly<Record<string, Json>>;
  readonly address: Address;
}

/** An answer to a press or a slash command may be in a channel that the app is not in. */
export async function showOne(
  { sender, interaction }: NonNullable<Part["onlyFor"]>,
  { channel, fields, address }: Message,
  { api, apiUrl, newId, signal }: { api: SlackApi; apiUrl: string; newId(): string; signal: AbortSignal },
): Promise<Receipt> {
  const isAnswered =
    interaction !== undefined &&
    isPlatformUrl(interaction, apiUrl) &&
    (await answerInteraction(interaction, { ...fields, ...inThread(address) }, signal));
  if (isAnswered) return { messageId: newId() };
  const { unfurl_links: _links, unfurl_media: _media, reply_broadcast: _broadcast, ...rest } = fields;
  const args = { channel, user: sender, ...rest, ...inThread(address) };
  return { messageId: messageIdOf(await api.call("chat.postEphemeral", args, { signal }), "chat.postEphemeral") };
}

const inThread = ({ thread }: Address) => (thread === undefined ? {} : { thread_ts: thread });

/** `false`: the address is used up. It takes five answers, for half an hour. */
async function answerInteraction(url: string, fields: Fields, signal: AbortSignal): Promise<boolean> {
  const call = "the answer to an interaction";
  const response = await fetchWhole(url, {
    ...{ method: "POST", maxBytes: 100_000, timeoutMs: 30_000, signal },
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify({ ...fields, response_type: "ephemeral", replace_original: false }),
  }).catch((error: unknown) => {
    throw unansweredCall(error, { call });
  });
  if (response.ok) return true;
  if (response.status === 404 || response.status === 410) return false;
  throw refusedCall({ ...response, body: {} }, { call });
}

/** A sentence for a person whose press has no effect. */
export async function noticeTo(api: SlackApi, payload: Fields, notice: string): Promise<void> {
  const channel = text(record(payload.container)?.channel_id) ?? text(record(payload.channel)?.id);
  const user = text(record(payload.user)?.id);
  if (channel === undefined || user === undefined) return;
  const words = notice.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const thread_ts = text(record(payload.message)?.thread_ts);
  await api.call("chat.postEphemeral", { channel, user, text: words, thread_ts });
}
