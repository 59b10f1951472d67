/** Escapes words from outside, so that a text written in Markdown shows them letter by letter. */

/**
 * Characters that become references, because a backslash has no effect on them: in a table, behind an open code span,
 * or in an address between angle brackets.
 */
const references: Readonly<Record<string, string>> = {
  "`": "&#96;",
  "|": "&#124;",
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
};

/** What may be markup anywhere in a line. An underscore between two letters or digits never is. */
const inline = /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|[\\*~[\]`|<>\n]|!$|&(?=#?\w*(?:;|$))/gu;

/** A number and a sign that would begin a list. */
const numbered = /^(\d{1,9})(?=[.)](?:\s|$))/;
/**
 * At the beginning, any of these may begin a block, or continue what is written before. References and escapes begin
 * with other characters.
 */
const opening = /^[#()+\-.:;=]/;

/** Text that contains nothing to escape. Most values do. */
const plain = /^(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}"#%'()+,\-/:;=?@ .]*[\p{L}\p{M}\p{N}"'().,:;?%])?)?$/u;

/**
 * Returns Markdown that shows a text letter by letter, wherever it is inserted outside of code: within a line, in a
 * heading, a list, a table or the label of a link. Line breaks become `&#10;`, so that the text cannot end the
 * paragraph, quote or list around it. Addresses stay readable, and platforms may link or mention what they recognize.
 *
 * @example
 * `**${escapeMarkdown(payload.title)}** is down`; // "__init__.py" is shown with its underscores
 */
export function escapeMarkdown(text: string): string {
  if (plain.test(text) && !numbered.test(text)) return text;
  return (
    text
      .replace(/\r\n?/g, "\n")
      // No reader sees these, and a reference to one would be shown as a replacement character.
      .replace(/[^\P{Cc}\n\t]/gu, "")
      .replace(inline, (sign) => (sign === "\n" ? "&#10;" : (references[sign] ?? `\\${sign}`)))
      .replace(/^\s+|\s+$/g, (spaces) => [...spaces].map((space) => `&#${space.codePointAt(0)};`).join(""))
      .replace(numbered, "$1\\")
      .replace(opening, "\\$&")
  );
}
