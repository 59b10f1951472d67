/**
 * Facts about the current message. Operators insert them as `{{Field}}` in the `systemPrompt` of a group or topic and
 * in `responsePrefix`.
 */
import type { Inbound, Route } from "../../contract/index.ts";
import { compileInsertion, type Piece } from "../../reply/index.ts";
import { plainName } from "./envelope.ts";

/** Senders choose some values themselves, so a value is shortened to one line before it enters the operator's text. */
const maxCharacters = 200;

interface Field {
  readonly value: string;
  /** The value was chosen by a user, such as a name, a title or the description of a file. */
  readonly foreign?: true;
}

export type ContextFields = ReadonlyMap<string, Field>;

export function fieldsOf(inbound: Inbound, route: Route): ContextFields {
  const { chat, sender, media } = inbound;
  const sticker = media.find(({ kind }) => kind === "sticker");
  const own = (value = ""): Field => ({ value });
  const foreign = (value = ""): Field => ({ value, foreign: true });
  return new Map([
    ["ChatType", own(chat.kind)],
    ["ChatTitle", foreign(chat.title)],
    ["MessageThreadId", own(chat.thread)],
    ["IsForum", own(String(chat.threaded === true))],
    ["SenderName", foreign(sender.name ?? sender.username)],
    ["SenderId", own(sender.id)],
    ["AccountId", own(route.to?.account ?? inbound.account)],
    ["AgentId", own(route.agentId)],
    ["Sticker.emoji", foreign(sticker?.sticker?.emoji)],
    ["Sticker.setName", foreign(sticker?.sticker?.setName)],
    ["Sticker.fileId", own(sticker?.ref)],
    ["Sticker.fileUniqueId", own(sticker?.uniqueId)],
    ["Sticker.cachedDescription", foreign(sticker?.description)],
  ]);
}

/** `{{Field}}` or `{{{Field}}}`. */
const field = /\{\{\{\s*([A-Za-z.]+)\s*\}\}\}|\{\{\s*([A-Za-z.]+)\s*\}\}/g;

/**
 * Inserts field values into a text for the model. Unknown names stay as written, so that mistakes are visible; missing
 * fields become empty. Inserted values are not expanded again. Values chosen by users are in quotation marks, so that
 * the model can recognize them.
 */
export function renderPrompt(template: string, fields: ContextFields): string {
  return template.replace(field, (written, triple: string | undefined, double: string | undefined) => {
    const found = fields.get(triple ?? double ?? "");
    if (found === undefined) return written;
    const value = plainName(found.value, maxCharacters);
    return found.foreign === true && value !== "" ? `"${value}"` : value;
  });
}

/**
 * Inserts field values into Markdown that people read. `{{Field}}` shows the value letter by letter, on one line;
 * `{{{Field}}}` inserts it as Markdown.
 */
export function renderShown(template: string, fields: ContextFields): string {
  const pieces: Piece[] = [];
  const values: string[] = [];
  let done = 0;
  for (const { 0: written, 1: triple, 2: double, index } of template.matchAll(field)) {
    const found = fields.get(triple ?? double ?? "");
    if (found === undefined) continue;
    pieces.push(template.slice(done, index), { isMarkdown: triple !== undefined });
    values.push(oneLine(found.value));
    done = index + written.length;
  }
  return pieces.length === 0 ? template : compileInsertion([...pieces, template.slice(done)])(values);
}

/** A value on one line, with all of its visible characters. */
function oneLine(value: string): string {
  const characters = [...value.replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim()];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters - 1).join("")}…`
    : characters.join("");
}
