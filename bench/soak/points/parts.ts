/** The messages of a marked reply: each fills one message, and begins with words that a preview already shows. */

export const beginning = "This is long enough to be shown while it is being written: ";
/** Two parts do not fit into one message. */
export const chunkLimit = 120;

/** A text that occurs in this part only. */
export const marker = (name: string, part: number): string => `${name}n${part};`;

export function expectedParts(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${beginning}${marker(name, index + 1)} that was it.`);
}
