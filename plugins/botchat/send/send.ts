/** Sends a part, or edits the message it replaces, with the few retries that are safe. */
import type { Address } from "service-gateway/sdk";
import { ChannelError, type Part, type Receipt } from "service-gateway/sdk/channel";
import type { BotApi, Method } from "../wire/api.ts";
import type { Keyboards } from "./keyboards.ts";
import { bodyOf, type PartBody } from "./part-body.ts";
import type { Shown } from "./shown.ts";
import { attachFiles, messageIdsOf } from "./uploads.ts";
import { withoutFiles } from "./without-files.ts";

type Payload = Record<string, unknown>;

/** General is a topic without a number: the platform rejects a send that names it. Only groups have one. */
export function sendTarget({ chat, thread }: Address): Payload {
  const general = thread === "1" && chat.startsWith("-");
  return { chat_id: chat, ...(thread !== undefined && !general && { message_thread_id: Number(thread) }) };
}

/** Typing, in contrast, names it. */
export function actionTarget({ chat, thread }: Address): Payload {
  return { chat_id: chat, ...(thread !== undefined && { message_thread_id: Number(thread) }) };
}

function without(payload: Payload, ...names: readonly string[]): Payload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !names.includes(name)));
}

interface Call {
  readonly method: string;
  readonly payload: Payload;
}

/** The same payload without markup, wherever its text is: in a message, a caption, or the caption of an album. */
function withoutMarkup(payload: Payload, plain: string): Payload | undefined {
  const { media } = payload;
  if (Array.isArray(media)) {
    if (!media.some((item) => "parse_mode" in item)) return undefined;
    return {
      ...payload,
      media: media.map((item) => ("parse_mode" in item ? { ...without(item, "parse_mode"), caption: plain } : item)),
    };
  }
  if (!("parse_mode" in payload)) return undefined;
  return { ...without(payload, "parse_mode"), ...("caption" in payload ? { caption: plain } : { text: plain }) };
}

/** The same file as another kind that the platform accepts. */
const instead: Readonly<Record<string, Readonly<Record<string, readonly [method: string, from: string, to: string]>>>> =
  {
    voice_forbidden: {
      sendVoice: ["sendAudio", "voice", "audio"],
      sendVideoNote: ["sendVideo", "video_note", "video"],
    },
    photo_refused: { sendPhoto: ["sendDocument", "photo", "document"] },
  };

/** A retry that fixes what the platform rejected; each fix is tried once. */
function cure(reason: string, { method, payload }: Call, plain: string | undefined): Call | undefined {
  // Only the markup can make it too long, because the visible text was counted.
  if ((reason === "parse_entities" || reason === "too_long") && plain !== undefined) {
    const bare = withoutMarkup(payload, plain);
    return bare && { method, payload: bare };
  }
  if (reason === "reply_target_gone" && "reply_parameters" in payload)
    return { method, payload: without(payload, "reply_parameters") };
  if (reason === "effect_refused" && "message_effect_id" in payload)
    return { method, payload: without(payload, "message_effect_id") };
  // The platform does not say which file of the album it rejected; it accepts all of them as documents.
  if (
    reason === "photo_refused" &&
    Array.isArray(payload.media) &&
    payload.media.some(({ type }) => type !== "document")
  )
    return { method, payload: { ...payload, media: payload.media.map((item) => ({ ...item, type: "document" })) } };
  const other = instead[reason]?.[method];
  if (other === undefined) return undefined;
  const [otherMethod, from, to] = other;
  return { method: otherMethod, payload: { ...without(payload, from), [to]: payload[from] } };
}

/** The message to reply to; the send also succeeds if that message was deleted. */
export function replyFields(replyTo: string | undefined): Payload {
  if (replyTo === undefined || !/^\d{1,15}$/.test(replyTo)) return {};
  return { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
}

export interface Sender {
  send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt>;
}

export function createSender(
  api: BotApi,
  { keyboards, shown }: { readonly keyboards: Keyboards; readonly shown: Shown },
): Sender {
  function attempt(method: string, payload: Payload, plain: string | undefined, signal: AbortSignal): Promise<unknown> {
    return api.call(method as Method, payload as never, signal).catch((error: unknown) => {
      const next = error instanceof ChannelError ? cure(error.reason, { method, payload }, plain) : undefined;
      if (next === undefined) throw error;
      return attempt(next.method, next.payload, plain, signal);
    });
  }

  /** An edit can be repeated without harm, even if its outcome is unknown. */
  async function attemptChange(...call: Parameters<typeof attempt>): Promise<unknown> {
    try {
      return await attempt(...call);
    } catch (error) {
      if (!(error instanceof ChannelError && error.fate === "unknown")) throw error;
      throw new ChannelError(error.reason, { retryable: true, fate: "not-sent", detail: error.message, cause: error });
    }
  }

  async function editCaption(
    { text, ...payload }: Payload,
    plain: string | undefined,
    signal: AbortSignal,
  ): Promise<Receipt> {
    const messageId = String(payload.message_id);
    try {
      await attemptChange(
        "editMessageCaption",
        { ...without(payload, "link_preview_options"), caption: text },
        plain,
        signal,
      );
    } catch (error) {
      if (!(error instanceof ChannelError && error.reason === "message_not_modified")) throw error;
    }
    return { messageId };
  }

  /** `undefined` if the message no longer exists. */
  async function edit(
    body: PartBody,
    messageId: string,
    address: Address,
    signal: AbortSignal,
  ): Promise<Receipt | undefined> {
    const payload = {
      ...without(body.payload, "reply_parameters"),
      chat_id: address.chat,
      message_id: Number(messageId),
    };
    try {
      await attemptChange("editMessageText", payload, body.plain, signal);
      return { messageId };
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      // The text is there already: an earlier attempt arrived, or the preview showed it.
      if (error.reason === "message_not_modified") return { messageId };
      if (error.reason === "message_gone") return undefined;
      // The message is a file with a caption.
      if (error.reason === "no_text") return await editCaption(payload, body.plain, signal);
      throw error;
    }
  }

  /** An edited message keeps its buttons until new ones are given. */
  async function withKnownButtons(
    body: PartBody,
    { inPlace, replaces = "" }: Part,
    { chat }: Address,
  ): Promise<PartBody> {
    if (inPlace !== true || "reply_markup" in body.payload) return body;
    const markup = await keyboards.of(chat, replaces);
    return markup === undefined ? body : { ...body, payload: { ...body.payload, reply_markup: markup } };
  }

  async function sendBody(body: PartBody, part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    if (part.replaces !== undefined && body.method === "sendMessage") {
      const edited = await edit(await withKnownButtons(body, part, address), part.replaces, address, signal);
      if (edited !== undefined) return edited;
    }
    if (part.inPlace === true)
      throw new ChannelError("message_gone", { detail: "the message to change is gone, or is not the bot's" });
    if (part.mayOmitFiles !== true || body.files === undefined) return await sendNew(body, part, address, signal);
    try {
      return await sendNew(body, part, address, signal);
    } catch (error) {
      const rest = withoutFiles(body, error);
      if (rest === undefined) throw error;
      return { ...(await sendNew(rest.body, part, address, signal)), omitted: [rest.omitted] };
    }
  }

  async function sendNew(body: PartBody, { replyTo }: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
    const fields = { ...sendTarget(address), ...body.payload, ...replyFields(replyTo) };
    const payload = body.files === undefined ? fields : await attachFiles(fields, body.files);
    const [messageId, ...others] = messageIdsOf(await attempt(body.method, payload, body.plain, signal));
    if (messageId === undefined) {
      throw new ChannelError("bad_answer", { fate: "unknown", detail: `${body.method}: the answer names no message` });
    }
    return others.length === 0 ? { messageId } : { messageId, messageIds: [messageId, ...others] };
  }

  /** The message was sent, so a failure to store its buttons must not cause another send. */
  async function withStoredButtons(receipt: Receipt, chat: string, { payload }: PartBody): Promise<Receipt> {
    await keyboards.keep(chat, receipt.messageId, payload.reply_markup).catch(() => {});
    return receipt;
  }

  return {
    send(part, address, signal) {
      const body = bodyOf(part);
      const there = shown.has(part, address);
      if (part.replaces !== undefined) shown.forget(address.chat, part.replaces);
      if (there && part.replaces !== undefined) return Promise.resolve({ messageId: part.replaces });
      const sending = sendBody(body, part, address, signal);
      return "reply_markup" in body.payload
        ? sending.then((receipt) => withStoredButtons(receipt, address.chat, body))
        : sending;
    },
  };
}
