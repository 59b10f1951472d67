/** Makes text from outside safe for a terminal: it cannot move the cursor, change colours or reverse a line. */

/** Control characters except line feed and tab, and characters that change the text direction. */
const active = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const shortForms: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(active, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));
}

/** Like `visible`, but on one line and cut to `length` characters. */
export function visibleLine(text: string, length = 200): string {
  const line = visible(text.replace(/\s+/g, " ").trim());
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line;
}

/** Escapes line breaks without cutting the text, so that log data cannot forge a new line. */
export function onOneLine(text: string): string {
  return text.replace(active, (character) => shortForms[character] ?? escaped(character));
}
