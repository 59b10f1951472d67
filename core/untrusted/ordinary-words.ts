/** What ordinary texts have before the words "external content": prose, Markdown, markup, code and addresses. */
import type { Skeleton } from "./lookalike.ts";

export interface SignsBefore {
  /** Units of the skeleton: the signs without white space between them. */
  readonly first: number;
  readonly last: number;
  /** Letters between the signs and the words. */
  readonly lead: string;
  /** A line ends between the signs and the words. */
  readonly newLine: boolean;
}

const plain = /^external([ _-])content$/i;
const article = /^(?:|the|a|an|any|all|no|our|my|raw|of|is|and|or|to|in|for|as|new)$/;
const longest = 80;

/** Only for words that are written plainly and name no end: what passes for the end of the content is never ordinary. */
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

/** Between quotation marks, or behind a tag. */
function isMarkup(signs: string, after: string): boolean {
  if (/^["']?\s?\/?>$/.test(signs)) return true;
  const quote = /(?:^|[^"'`])(["'`])[.#/]?$/.exec(signs)?.[1];
  return quote !== undefined && new RegExp(`^[\\w./# -]*\\\\?${quote}(?!${quote})`).test(after);
}

/** The name of a host, or a part of a path. */
function isAddress(signs: string, after: string, before: string): boolean {
  if (signs === "://") return /(?:^|[^a-z])https?$/i.test(before.slice(-10)) && /^\.[a-z]/i.test(after);
  return /^(?:\.{1,2}\/)+$/.test(signs);
}
