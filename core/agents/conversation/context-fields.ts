/**
 * Facts about the current message that an operator may use as `{{Field}}` in a group's or topic's `systemPrompt` and in `responsePrefix`.
 */
import type { Inbound, Route } from "../../contract/index.ts";
import { plainName } from "./envelope.ts";

/** What senders choose themselves reaches no text of the operator as anything but a short word on one line. */
const maxCharacters = 200;

interface Field {
  readonly value: string;
  /** Chosen by users: a name, a title, a description of a file. */
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
 * An unknown name stays as it is written, so that a mistake is seen; a field that the message does not have is empty. Values are
 * put in once: what looks like a field inside of one stays text. `quoteForeign`: in quotation marks, for a model to tell them apart.
 */
export function renderFields(template: string, fields: ContextFields, { quoteForeign }: { readonly quoteForeign: boolean }): string {
  return template.replace(/\{\{\s*([A-Za-z.]+)\s*\}\}/g, (written, name: string) => {
    const field = fields.get(name);
    if (field === undefined) return written;
    const value = plainName(field.value, maxCharacters);
    return field.foreign === true && quoteForeign && value !== "" ? `"${value}"` : value;
  });
}
