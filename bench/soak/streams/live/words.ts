/** The words of a text whatever its markup, without the product's own renderer. */

/** The Markdown that streams contain, and what the renderer makes of it. */
const marks = /[\s*_~`•-]/g;

const spoken = (text: string) => text.toWellFormed().replace(marks, "").replaceAll("\uFFFD", "");

/** Whether the messages contain every word of the Markdown, in order, and nothing else. */
export function saysAll(markdown: string, messages: readonly string[]): boolean {
  return spoken(markdown) === spoken(messages.join(""));
}
