/**
 * Makes text from outside safe for a terminal: it cannot move the cursor, change colours, reverse a line or hide words
 * in it.
 */

/**
 * Control characters except line feed and tab, characters that change the text direction, and tag characters, which no
 * terminal shows. The flags of England, Scotland and Wales are written with the latter; they are shown as what they are
 * made of.
 */
const active = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/gu;
/**
 * Everything in JSON that a terminal acts on or does not show. Tab and line feed are escaped by JSON itself, or indent
 * it.
 */
const unseen = /[\p{Cc}\p{Cf}\u{E0000}-\u{E007F}]/gu;

const escapedUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
const escaped = (character: string) => {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : escapedUnit(character);
};
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

/**
 * JSON of the same value, in which control, format and tag characters are escaped. `indent`: spaces of a level; absent:
 * one line.
 */
export function visibleJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent) ?? "null");
}

/** The same for a text that is JSON already. */
export function escapeJson(text: string): string {
  // Outside of strings, JSON has no such character but the line feeds of its indentation.
  return text.replace(unseen, (character) =>
    character === "\n" ? character : character.split("").map(escapedUnit).join(""),
  );
}
