/**
 * Fallback for a reply that its channel fails to render: its text is still sent. The model has replied, and is not
 * called again.
 */

import type { Reply } from "../contract/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";

const punctuation = /[!-/:-@[-`{-~]/g;

/** Markdown that shows the text literally. */
function escaped(text: string): string {
  return text.replace(punctuation, "\\$&").replace(/^[ \t]+/gm, "");
}

function missing({ length }: Reply["media"]): string {
  if (length === 0) return "";
  return length === 1
    ? "[A file of this answer could not be sent.]"
    : `[${length} files of this answer could not be sent.]`;
}

/** Simpler forms of a reply, in the order in which they are tried: without files and buttons, then without markup. */
export function simplerReplies(reply: Reply, { markup }: Pick<ChannelCapabilities, "markup">): readonly Reply[] {
  const { media, buttons, replyTo, silent, replaces, to } = reply;
  const text = [reply.text.trim(), missing(media)].filter((piece) => piece !== "").join("\n\n");
  const common = { media: [], buttons: [], ...(silent && { silent }), replaces, ...(to && { to }) };
  const words: Reply = { ...common, text, ...(replyTo === undefined ? {} : { replyTo }) };
  const plain: Reply = { ...common, text: markup === "rich" ? escaped(text) : text };
  const hasMore = media.length > 0 || buttons.length > 0;
  return hasMore ? [words, plain] : [plain];
}
