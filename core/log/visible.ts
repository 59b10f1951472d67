/** Text from outside on a terminal: it must not move the cursor, change colours, or turn the line around. */

/** Control characters but line feed and tab, and what changes the direction of text. */
const active = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const shortForms: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(active, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));
}

/** The same on one line, cut to `length` characters. */
export function visibleLine(text: string, length = 200): string {
  const line = visible(text.replace(/\s+/g, " ").trim());
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line;
}

/** Nothing cut and nothing lost, as a line of the log has to be: who could begin a new one could write lines of their own. */
export function onOneLine(text: string): string {
  return text.replace(active, (character) => shortForms[character] ?? escaped(character));
}
