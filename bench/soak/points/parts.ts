/** The messages of a marked answer: each fills one message, and begins with words that a preview shows already. */

export const beginning = "This is long enough to be shown while it is being written: ";
/** No two parts fit one message. */
export const chunkLimit = 120;

/** What is found in a part, and in no other. */
export const marker = (name: string, part: number): string => `${name}n${part};`;

export function expectedParts(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${beginning}${marker(name, index + 1)} that was it.`);
}
