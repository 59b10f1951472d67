/** The text of a part whose files the platform refuses. Pure. */
import type { Json } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";
import { record } from "../intake/fields.ts";
import type { PartBody } from "./part-body.ts";

/** Refusals that concern the file alone; a text may still be sent to the chat. */
const aboutFiles: ReadonlySet<string> = new Set([
  "media_refused",
  "media_missing",
  "too_large",
  "photo_refused",
  "voice_forbidden",
]);

/** The bot may write in the chat, but not send this kind of file. */
const rightForFiles = /not enough rights to send (?!text messages)|CHAT_SEND_(?!PLAIN)[A-Z_]+_FORBIDDEN/i;

function refusesFiles(error: unknown): error is ChannelError {
  if (!(error instanceof ChannelError) || error.retryable || error.fate === "unknown") return false;
  return aboutFiles.has(error.reason) || (error.reason === "no_rights" && rightForFiles.test(error.message));
}

/** The fields that contain the caption; in an album, they are those of its first file. */
function captioned({ payload }: PartBody): { readonly [key: string]: Json } | undefined {
  const { media, ...rest } = payload;
  const fields = Array.isArray(media) ? record(media[0]) : rest;
  return typeof fields?.caption === "string" ? fields : undefined;
}

/**
 * The same part as a text message, and what it leaves out. `undefined` if it has no text, or if something else was
 * refused.
 */
export function withoutFiles(
  body: PartBody,
  error: unknown,
): { readonly body: PartBody; readonly omitted: string } | undefined {
  const fields = captioned(body);
  const count = body.files?.length ?? 0;
  if (fields === undefined || count === 0 || !refusesFiles(error)) return undefined;
  const note =
    count === 1 ? "[A file of this answer could not be sent.]" : `[${count} files of this answer could not be sent.]`;
  const { reply_markup, disable_notification, protect_content, message_effect_id } = body.payload;
  const text = {
    text: `${String(fields.caption)}\n\n${note}`,
    ...(fields.parse_mode !== undefined && { parse_mode: fields.parse_mode }),
    // A caption shows no previews of links.
    link_preview_options: { is_disabled: true },
    ...(reply_markup !== undefined && { reply_markup }),
    ...(disable_notification !== undefined && { disable_notification }),
    ...(protect_content !== undefined && { protect_content }),
    ...(message_effect_id !== undefined && { message_effect_id }),
  };
  const plain = body.plain === undefined ? {} : { plain: `${body.plain}\n\n${note}` };
  return {
    body: { method: "sendMessage", payload: text, ...plain },
    omitted: `${count === 1 ? "the file" : "the files"}: ${error.message}`,
  };
}
