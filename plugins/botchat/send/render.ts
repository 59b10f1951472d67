/** Turns a reply into parts, each within the platform's limits. Pure. */
import type { Json, Reply } from "service-gateway/sdk";
import { type Button, type MarkupMessage, type Part, renderMarkdown } from "service-gateway/sdk/channel";
import { buttonScope, isExcluded } from "../intake/press.ts";
import type { AccountOptions } from "../options.ts";
import { kindOf } from "./outbound-kind.ts";
import { groupMedia, mediaPart } from "./outbound-media.ts";
import { withOwnFields } from "./own-fields.ts";
import { joined, type PartBody, withPayload } from "./part-body.ts";

/** Maximum length of a caption, after entities. */
const captionLimit = 1024;
/** Maximum length of a message, after entities. */
export const messageLimit = 4096;
const buttonDataLimit = 64;

type Settings = Pick<AccountOptions, "textChunkLimit" | "chunkMode" | "linkPreview" | "replyToMode" | "capabilities">;

function chunkMarkdown(
  markdown: string,
  { textChunkLimit, chunkMode }: Pick<Settings, "textChunkLimit" | "chunkMode">,
  firstLimit = messageLimit,
): readonly MarkupMessage[] {
  return renderMarkdown(markdown, { ...markupOptions({ textChunkLimit, chunkMode }), firstLimit });
}

export function markupOptions({ textChunkLimit, chunkMode }: Pick<Settings, "textChunkLimit" | "chunkMode">) {
  return { dialect: "html", limit: Math.min(textChunkLimit, messageLimit), mode: chunkMode } as const;
}

/** Fields of a text message, the same for a send, an edit and a preview. */
export function textPayload(
  { markup }: Pick<MarkupMessage, "markup">,
  settings: Pick<Settings, "linkPreview">,
): { readonly [key: string]: Json } {
  return {
    text: markup,
    parse_mode: "HTML",
    ...(!settings.linkPreview && { link_preview_options: { is_disabled: true } }),
  };
}

function textPart(chunk: MarkupMessage, settings: Settings): Part {
  const body: PartBody = { method: "sendMessage", payload: textPayload(chunk, settings), plain: chunk.plain };
  return { kind: "text", chars: chunk.size, body: body as unknown as Json };
}

/** Why the platform would reject a button; `undefined` if it would not. */
function wrongButton({ text, value }: Button): string | undefined {
  if (text.trim() === "") return "it has no text";
  if (value === "") return "it has no value";
  return Buffer.byteLength(value, "utf8") > buttonDataLimit
    ? `its value is longer than ${buttonDataLimit} bytes`
    : undefined;
}

/** Rows of buttons in the platform's format. */
type InlineKeyboard = readonly (readonly { readonly text: string; readonly callback_data: string }[])[];

/**
 * The rows without buttons that the platform would reject or that the account excludes from the chat, and what was
 * omitted. Ids of groups and channels are negative.
 */
function keyboard(
  rows: Reply["buttons"],
  { capabilities }: Settings,
  chat: string,
): { readonly rows: InlineKeyboard; readonly omitted: readonly string[] } {
  const scope = buttonScope(capabilities);
  if (isExcluded(scope, { kind: chat.startsWith("-") ? "group" : "direct" }))
    return { rows: [], omitted: [`the buttons: capabilities.inlineButtons is "${scope}"`] };
  const omitted: string[] = [];
  const fits = (button: Button) => {
    const wrong = wrongButton(button);
    if (wrong !== undefined) omitted.push(`the button ${JSON.stringify(button.text.slice(0, 40))}: ${wrong}`);
    return wrong === undefined;
  };
  const fitting = rows.map((row) => row.filter(fits).map(({ text, value }) => ({ text, callback_data: value })));
  return { rows: fitting.filter((row) => row.length > 0), omitted };
}

function loud(part: Part, { silent }: Reply): Part {
  return silent === true ? withPayload(part, { disable_notification: true }) : part;
}

/**
 * Sets the message that each part replies to: the one the agent named, otherwise the one being answered if the mode
 * says so.
 */
function replying(
  parts: readonly Part[],
  { replyTo }: Reply,
  { replyToMode }: Settings,
  trigger: string | undefined,
): readonly Part[] {
  const target = replyTo ?? (replyToMode === "off" ? undefined : trigger);
  if (target === undefined || !/^\d{1,15}$/.test(target)) return parts;
  const implied = replyToMode !== "off" && target === trigger && { replyImplied: true as const };
  return parts.map((part, index) =>
    index === 0 || replyToMode === "all" ? { ...part, replyTo: target, ...implied } : part,
  );
}

/**
 * Splits the text of a reply into the caption of its first file, as far as it fits, and the rest. Some files take no
 * caption, and an album takes no buttons; text and buttons then follow below the files.
 */
function textOf(
  { text, media, buttons }: Reply,
  settings: Settings,
): { readonly caption: MarkupMessage | undefined; readonly below: readonly MarkupMessage[] } {
  const [first] = media;
  const captioned =
    first !== undefined &&
    kindOf(first).kind.bare === undefined &&
    (buttons.length === 0 || (groupMedia(media)[0]?.length ?? 0) < 2);
  if (!captioned) return { caption: undefined, below: chunkMarkdown(text, settings) };
  const [caption, ...below] = chunkMarkdown(text, settings, captionLimit);
  return { caption, below };
}

/** Without a text of their own below them, buttons are at the last file. Either is one with the files before it. */
function joinFiles(files: readonly Part[], texts: readonly Part[], { buttons }: Reply): readonly Part[] {
  const at = texts.length > 0 ? files.length : buttons.length > 0 ? files.length - 1 : 0;
  return [...files, ...texts].map((part, index) => (index === at && index > 0 ? joined(part) : part));
}

export function renderReply(
  reply: Reply,
  settings: Settings,
  about: { readonly chat: string; readonly trigger?: string },
): readonly Part[] {
  const parts = renderParts(reply, settings, about);
  const own = reply.platform?.botchat;
  if (own === undefined) return parts;
  return withOwnFields(parts, own as never, { chat: about.chat, isEdit: reply.replaces !== undefined });
}

function renderParts(
  reply: Reply,
  settings: Settings,
  { chat, trigger }: { readonly chat: string; readonly trigger?: string },
): readonly Part[] {
  const { caption, below } = textOf(reply, settings);
  const groups = groupMedia(reply.media, {
    lastAlone: reply.buttons.length > 0 && caption === undefined && below.length === 0,
  });
  const mediaParts = groups.map((items, index) => mediaPart(items, index === 0 ? caption : undefined));
  const textParts = below.map((chunk) => textPart(chunk, settings));
  const parts = replying(
    joinFiles(mediaParts, textParts, reply).map((part) => loud(part, reply)),
    reply,
    settings,
    trigger,
  );
  if (reply.buttons.length === 0) return parts;
  const { rows, omitted } = keyboard(reply.buttons, settings, chat);
  // Buttons belong to the end of the text, or to the file whose caption is the text.
  const holder = textParts.length === 0 && caption !== undefined ? 0 : parts.length - 1;
  return parts.map((part, index) => {
    if (index !== holder) return part;
    // When a message is edited, an empty list of rows is meaningful: it removes the existing buttons.
    const held =
      rows.length === 0 && reply.replaces === undefined
        ? part
        : withPayload(part, { reply_markup: { inline_keyboard: rows as unknown as Json } });
    return omitted.length === 0 ? held : { ...held, omitted: [...(part.omitted ?? []), ...omitted] };
  });
}
