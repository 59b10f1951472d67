/** Declarations of CSS: `display: none !important`. */

export interface Declaration {
  readonly name: string;
  readonly value: string;
  readonly isImportant: boolean;
}

/** A style with more than this is cut: no reader's program needs as much. */
const maxStyle = 8_192;
const maxDeclarations = 100;

/** Removes comments. One that nothing closes goes on to the end. */
export function withoutComments(text: string): string {
  let rest = "";
  let done = 0;
  for (let at = text.indexOf("/*"); at >= 0; at = text.indexOf("/*", done)) {
    // A comment separates, as white space does.
    rest += text.slice(done, at);
    const end = text.indexOf("*/", at + 2);
    done = end < 0 ? text.length : end + 2;
    if (end < 0) break;
  }
  return rest + text.slice(done);
}

/** `\64 isplay` is another spelling of `display`. */
export const unescaped = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gis, (_all, digits: string | undefined, sign: string | undefined) => {
        const code = Number.parseInt(digits ?? "0", 16);
        return sign ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "");
      })
    : text;

/** The declarations of a `style` attribute or of a rule, in order and in lower case. */
export function parseDeclarations(style: string): readonly Declaration[] {
  const declarations: Declaration[] = [];
  for (const part of splitOutside(withoutComments(style.slice(0, maxStyle)), ";").slice(0, maxDeclarations)) {
    const colon = part.indexOf(":");
    if (colon < 1) continue;
    const name = unescaped(part.slice(0, colon)).trim().toLowerCase();
    const whole = unescaped(part.slice(colon + 1))
      .replace(/\s+/g, " ")
      .trim()
      .toLowerCase();
    const value = whole.replace(/ ?! ?important$/, "");
    declarations.push({ name, value, isImportant: value !== whole });
  }
  return declarations;
}

/** Splits a text at a sign that is neither in quotes nor in brackets. */
export function splitOutside(text: string, sign: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === "\\") at += 1;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === "(" || character === "[") depth += 1;
    else if (character === ")" || character === "]") depth = Math.max(0, depth - 1);
    else if (character === sign && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
