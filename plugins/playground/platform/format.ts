/** Reads texts, captions and keyboards from a bot's call. */
import type { Call } from "./core.ts";
import { cleanText, detectEntities, orderEntities, trimText } from "./entities.ts";
import { badRequest } from "./errors.ts";
import { isRecord, jsonOf, type RawParams, textOf } from "./params.ts";
import { parseHtml } from "./parse.ts";
import type { Entity, FormattedText, InlineButton, InlineKeyboard } from "./wire.ts";

const maxText = 4096;
const maxCaption = 1024;
const maxButtons = 100;

/** The text of a message: parsed, cleaned, trimmed and checked against the limit. */
export function messageText(call: Call): FormattedText {
  const source = textOf(call.params, "text");
  if (source === undefined || source === "") throw badRequest("message text is empty");
  const formatted = format(call, source, call.params, "entities");
  if (formatted.text === "") throw badRequest("text must be non-empty");
  if (formatted.text.length > maxText) throw badRequest("message is too long");
  return formatted;
}

/** The caption of a file; `undefined` if there is none. */
export function captionText(call: Call, params: RawParams): FormattedText | undefined {
  const source = textOf(params, "caption");
  if (source === undefined || source === "") return undefined;
  const formatted = format(call, source, params, "caption_entities");
  if (formatted.text.length > maxCaption) throw badRequest("message caption is too long");
  return formatted.text === "" ? undefined : formatted;
}

function format(call: Call, source: string, params: RawParams, entitiesName: string): FormattedText {
  const mode = textOf(params, "parse_mode") ?? "";
  if (mode !== "" && mode.toLowerCase() !== "html") throw badRequest("unsupported parse_mode");
  const text = cleanText(source);
  const parsed =
    mode === ""
      ? { text, entities: readEntities(jsonOf(params, entitiesName, "message entities"), text) }
      : parseHtml(text, (id) => call.core.world.userOf(id));
  return detectEntities(trimText(parsed));
}

function readEntities(value: unknown, text: string): readonly Entity[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw badRequest("can't parse message entities: expected an Array");
  const entities = value.map((entry): Entity => {
    if (
      !isRecord(entry) ||
      typeof entry.type !== "string" ||
      !Number.isInteger(entry.offset) ||
      !Number.isInteger(entry.length)
    ) {
      throw badRequest("can't parse MessageEntity: expected an Object with type, offset and length");
    }
    const entity = entry as unknown as Entity;
    if (entity.offset < 0 || entity.length <= 0 || entity.offset + entity.length > text.length) {
      throw badRequest(
        `entity beginning at UTF-16 offset ${entity.offset} ends after the end of the text at UTF-16 offset ` +
          `${text.length}`,
      );
    }
    return entity;
  });
  return orderEntities(entities);
}

/** The inline keyboard of a call. Other keyboards are accepted but not shown. */
export function keyboardOf(params: RawParams): InlineKeyboard | undefined {
  const value = jsonOf(params, "reply_markup", "reply keyboard markup");
  if (value === undefined) return undefined;
  if (!isRecord(value)) throw badRequest("object expected as reply markup");
  if (value.inline_keyboard === undefined) return undefined;
  if (!Array.isArray(value.inline_keyboard)) throw badRequest('field "inline_keyboard" must be of type Array');
  const rows = value.inline_keyboard.map((row: unknown) => {
    if (!Array.isArray(row)) throw badRequest("can't parse inline keyboard: expected an Array of rows");
    return row.map(readButton);
  });
  const filled = rows.filter((row) => row.length > 0);
  if (filled.flat().length > maxButtons) throw badRequest("REPLY_MARKUP_TOO_LONG");
  return filled.length === 0 ? undefined : { inline_keyboard: filled };
}

function readButton(value: unknown): InlineButton {
  if (!isRecord(value)) throw badRequest("can't parse inline keyboard button: expected an Object");
  const { text, callback_data: data, url, copy_text: copy } = value;
  if (typeof text !== "string" || text.trim() === "")
    throw badRequest("can't parse inline keyboard button: text must be non-empty");
  if (typeof data === "string") {
    if (data === "" || Buffer.byteLength(data) > 64) throw badRequest("BUTTON_DATA_INVALID");
    return { text, callback_data: data };
  }
  if (typeof url === "string") {
    if (!/^(?:https?|tg):\/\/\S+$/i.test(url)) throw badRequest("BUTTON_URL_INVALID");
    return { text, url };
  }
  if (isRecord(copy) && typeof copy.text === "string" && copy.text.length >= 1 && copy.text.length <= 256) {
    return { text, copy_text: { text: copy.text } };
  }
  throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
}

/** Compares two keyboards or texts as the platform does: they are equal if their JSON is. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
