/**
 * Facts about the current message. Operators insert them as `{{Field}}` in the `systemPrompt` of a group or topic and in `responsePrefix`.
 */
import type { Inbound, Route } from "../../contract/index.ts";
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

/**
 * Inserts field values into a template. Unknown names stay as written, so that mistakes are visible; missing fields become empty. Inserted
 * values are not expanded again. `quoteForeign` puts values chosen by users in quotation marks, so that a model can recognize them.
 */
export function renderFields(template: string, fields: ContextFields, { quoteForeign }: { readonly quoteForeign: boolean }): string {
  return template.replace(/\{\{\s*([A-Za-z.]+)\s*\}\}/g, (written, name: string) => {
    const field = fields.get(name);
    if (field === undefined) return written;
    const value = plainName(field.value, maxCharacters);
    return field.foreign === true && quoteForeign && value !== "" ? `"${value}"` : value;
  });
}
