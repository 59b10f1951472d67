/** The content of a message as text and file references, in one form for every kind of message. */
import type { InboundMedia } from "service-gateway/sdk";
import { contentKinds } from "./content-kinds.ts";
import { entitiesToMarkdown } from "./entities.ts";
import { type Fields, record, text } from "./fields.ts";
import { filesOf, placeholderOf } from "./file-reference.ts";
import { richMessage } from "./rich-message.ts";
import { silenceOf } from "./service-fields.ts";

export interface Content {
  /** Markdown: a placeholder for each file, then the written text. */
  readonly text: string;
  /** The same text without Markdown, if it differs. */
  readonly plain?: string;
  readonly media: readonly InboundMedia[];
}

/** The text that represents the files and other non-text content. */
function shownIn(message: Fields, files: readonly InboundMedia[]): string | undefined {
  for (const [name, render] of Object.entries(contentKinds)) {
    const fields = record(message[name]);
    const shownText = fields && render(fields);
    if (shownText !== undefined) return shownText;
  }
  return files.length > 0 ? files.map(placeholderOf).join(" ") : undefined;
}

function contentOf(markdown: string, plain: string, media: readonly InboundMedia[]): Content {
  return { text: markdown, ...(plain !== markdown && { plain }), media };
}

/** `silent`: why the message contains nothing that a person said or sent. */
export function parseContent(message: Fields): Content | { readonly silent: string } {
  const written = text(message.text);
  const files = filesOf(message);
  if (written !== undefined) return contentOf(entitiesToMarkdown(written, message.entities), written, files);
  const rich = richMessage(record(message.rich_message));
  if (rich !== undefined) return rich;
  const caption = text(message.caption);
  const shown = shownIn(message, files);
  const joined = (...pieces: readonly (string | undefined)[]) =>
    pieces.filter((piece) => piece !== undefined).join("\n");
  if (shown === undefined && caption === undefined) return { silent: silenceOf(message) };
  const markdown = caption && entitiesToMarkdown(caption, message.caption_entities);
  return contentOf(joined(shown, markdown), joined(shown, caption), files);
}
