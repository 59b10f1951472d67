/**
 * What holds for every text that goes out. Says what does not: an assertion for each of many thousand texts would take
 * longer than the work.
 */
import { isBlank, type RichText } from "../../../../core/sdk/markup/rich-text.ts";
import { chunkText, parseMarkdown, renderHtml } from "../../../support/rich-text.ts";
import { parseStrictHtml } from "./html-parser.ts";
import { crossing, readAsPlatform, readAsStranger } from "./readers.ts";
import { differenceFromTree, visible } from "./tree-text.ts";

interface Cut {
  readonly limit: number;
  readonly mode: "length" | "newline";
}

function faultOfPart(part: RichText, limit: number): string | undefined {
  const html = renderHtml(part);
  if (part.text.length > limit) return `${part.text.length} units, ${limit} are allowed`;
  if (isBlank(part.text)) return "a message that nobody sees";
  if (!part.text.isWellFormed()) return "half of a surrogate pair";
  if (parseStrictHtml(html).text !== part.text) return `other text for a strict reader: ${html}`;
  const platform = readAsPlatform(html);
  const stranger = readAsStranger(html);
  if (platform.text !== part.text) return `the platform reads ${JSON.stringify(platform.text)}`;
  // A stranger takes a space that does not break for any other.
  if (stranger.text !== part.text.replaceAll("\u00a0", " ")) return `a stranger reads ${JSON.stringify(stranger.text)}`;
  if (platform.styles.join() !== stranger.styles.join())
    return `two readers see two styles: ${platform.styles}; ${stranger.styles}`;
  if (platform.ranges.length > 100) return `${platform.ranges.length} styles, 100 are shown`;
  const crossed = crossing(platform) ?? crossing(stranger);
  return crossed === undefined ? undefined : `styles cross: ${crossed}`;
}

const seen = (text: string) => visible(text).replace(/\p{Default_Ignorable_Code_Point}/gu, "");

/** Undefined when all is well. */
export function faultOf(markdown: string, { limit, mode }: Cut): string | undefined {
  const rich = parseMarkdown(markdown);
  const difference = differenceFromTree(markdown, rich.text);
  if (difference !== undefined) return `not the text of the tree: ${difference}`;
  const parts = chunkText(rich, { limit, mode });
  for (const part of parts) {
    const fault = faultOfPart(part, limit);
    if (fault !== undefined) return fault;
  }
  if (seen(parts.map(({ text }) => text).join("")) !== seen(rich.text))
    return "a visible character was lost between two messages";
  return undefined;
}
