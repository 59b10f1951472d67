/** Recognizes ordinary text before the words "external content": prose, Markdown, markup, code and addresses. */
import type { Skeleton } from "./lookalike.ts";

export interface SignsBefore {
  /** First unit of the adjacent punctuation in the skeleton. */
  readonly first: number;
  readonly last: number;
  /** Letters between the punctuation and the words. */
  readonly lead: string;
  /** Whether a line break separates the punctuation from the words. */
  readonly newLine: boolean;
}

const plain = /^external([ _-])content$/i;
const article = /^(?:|the|a|an|any|all|no|our|my|raw|of|is|and|or|to|in|for|as|new)$/;
const longest = 80;

/**
 * Whether the words are ordinary text. Only plainly written words qualify, and never words that could mark the end of
 * the content.
 */
export function isOrdinary(
  { skeleton, source }: { readonly skeleton: Skeleton; readonly source: string },
  words: { readonly from: number; readonly to: number },
  { first, last, lead, newLine }: SignsBefore,
): boolean {
  const to = skeleton.to(words.to - 1);
  const separator = plain.exec(source.slice(skeleton.from(words.from), to))?.[1];
  if (separator === undefined || !article.test(lead)) return false;
  if (newLine) return true;
  const signs = source.slice(skeleton.from(first), skeleton.to(last));
  const after = source.slice(to, to + longest);
  const between = source.slice(skeleton.to(last), skeleton.from(words.from));
  if (separator === " " && /^\s/.test(between)) return lead !== "" || !/^[^\n]*?([^\w\s.])\1/.test(after);
  if (separator === " " && /^(?:\*\*|__)$/.test(signs)) return /^[^\n\d]*?(?:\*\*|__)/.test(after);
  return isMarkup(signs, after) || isAddress(signs, after, source.slice(0, skeleton.from(first)));
}

/** Whether the words are inside quotation marks or follow a tag. */
function isMarkup(signs: string, after: string): boolean {
  if (/^["']?\s?\/?>$/.test(signs)) return true;
  const quote = /(?:^|[^"'`])(["'`])[.#/]?$/.exec(signs)?.[1];
  return quote !== undefined && new RegExp(`^[\\w./# -]*\\\\?${quote}(?!${quote})`).test(after);
}

/** Whether the words are part of a host name or a path. */
function isAddress(signs: string, after: string, before: string): boolean {
  if (signs === "://") return /(?:^|[^a-z])https?$/i.test(before.slice(-10)) && /^\.[a-z]/i.test(after);
  return /^(?:\.{1,2}\/)+$/.test(signs);
}
