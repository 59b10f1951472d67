/** Styled text as it is rendered for the Telegram Bot API, below `renderMarkdown`. */
import { chunkText as chunkRich } from "../../core/sdk/markup/chunk.ts";
import { readMarkdown } from "../../core/sdk/markup/markdown.ts";
import type { RichText } from "../../core/sdk/markup/rich-text.ts";
import { telegram } from "../../core/sdk/markup/telegram.ts";

export const parseMarkdown = (markdown: string): RichText => readMarkdown(markdown, telegram);
export const renderHtml = (rich: RichText): string => telegram.write(rich);

interface Cut {
  readonly limit: number;
  readonly firstLimit?: number;
  readonly mode: "length" | "newline";
}

export const chunkText = (rich: RichText, cut: Cut): readonly RichText[] =>
  chunkRich(rich, { ...cut, dialect: telegram });
