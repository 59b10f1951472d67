/** What a text says, however it is marked up: past the product's own renderer. */

/** Marks of the Markdown that streams are made of, and what the renderer makes of them. */
const marks = /[\s*_~`•-]/g;

const spoken = (text: string) => text.toWellFormed().replace(marks, "").replaceAll("\uFFFD", "");

/** Whether the messages say every word of the Markdown, in its order, and nothing else. */
export function saysAll(markdown: string, messages: readonly string[]): boolean {
  return spoken(markdown) === spoken(messages.join(""));
}
