/** Finds control tokens of chat templates, and tags with which models call tools, in what a text looks like. */
import { isSpecialWord, isSquareWord, isTokenName, isToolWord, takesAnyAttribute, takesAttributes } from "./token-names.ts";

/** First and last unit of the text. */
export interface Found {
  readonly first: number;
  readonly last: number;
}

/** A token is not longer than this, attributes included. */
const longest = 300;
const partners: Readonly<Record<string, string>> = { "<": ">", "[": "]", "(": ")" };
/** What stands around the name: white space, bars, a slash. */
const around = /^[\s|/\\!?#*_~.:=-]{0,40}|[\s|/\\!?#*_~.:=-]{0,40}$/g;
const piped = /^\s{0,16}\|[^<>|[\]]{0,100}\|\s{0,16}$/;
const separators = /[\s_.-]+/g;
const head = /^(?:[a-z]{1,20}:)?([a-z_]+(?:[\s-][a-z]+)?)(?=[\s=:,/|"'(])/;

/** In the order of the text, which is that of a skeleton. */
export function findControlTokens(text: string): readonly Found[] {
  const found: Found[] = [];
  for (let unit = 0; unit < text.length; unit += 1) {
    const code = text.charCodeAt(unit);
    if (code !== 60 && code !== 91 && code !== 40) continue;
    const open = text.charAt(unit);
    // Of a row of brackets the last one opens the token.
    if (text.charAt(unit + 1) === open) continue;
    const close = closeOf(text, unit, open);
    if (close === undefined || !isToken(open, text.slice(unit + 1, close))) continue;
    const first = text.charAt(unit - 1) === open ? unit - 1 : unit;
    const last = text.charAt(close + 1) === partners[open] ? close + 1 : close;
    found.push({ first, last });
    unit = last;
  }
  return found;
}

/** The bracket that closes the one at `from`; none when another one opens before it, unless a tag has begun, or the content is too long. */
function closeOf(text: string, from: number, open: string): number | undefined {
  const close = partners[open];
  const end = Math.min(text.length, from + longest);
  let inTag: boolean | undefined;
  for (let unit = from + 1; unit < end; unit += 1) {
    const character = text.charAt(unit);
    if (character === close) return unit;
    if (character !== open) continue;
    inTag ??= open === "<" && hasAttributes(open, bodyOf(text.slice(from + 1, unit + 1)), true);
    if (!inTag) return undefined;
  }
  return undefined;
}

const bodyOf = (content: string): string => content.replace(around, "");

function isToken(open: string, content: string): boolean {
  const isPiped = piped.test(content);
  if (open === "<" && isPiped) return true;
  const body = bodyOf(content);
  const name = body.replace(separators, "");
  if (isSpecialWord(name)) return true;
  if (open === "<" ? isTokenName(name) : open === "[" ? isSquareWord(name) || (isPiped && isTokenName(name)) : isPiped && isTokenName(name))
    return true;
  return hasAttributes(open, body);
}

/** A word of a tool or of a chat template with something behind it, such as `system x` or `tool_call name="x"`. */
function hasAttributes(open: string, body: string, begun = false): boolean {
  const words = head.exec(body)?.[1];
  if (words === undefined) return false;
  const names = [words.split(/[\s-]/, 1)[0] ?? "", words].map((name) => name.replace(separators, ""));
  if (open === "<") return names.some((name) => takesAnyAttribute(name) || (takesAttributes(name) && (begun || body.includes("="))));
  return body.includes("=") && names.some(isToolWord);
}
