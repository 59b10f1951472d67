/** Removes the characters that a person who looks at a text does not see, but that a model reads. */

const ordinary = /^[\t\n\r -~]*$/;

/** Control and format characters, tag letters, and those that are drawn as nothing. Arabic number signs show. */
const unseen = /(?![\t\n\r\u0600-\u0605\u06dd\u08e2])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Joiners and variants have a meaning behind some characters: in Persian and Indic words, in emoji, and in Chinese and
 * Japanese names.
 */
const joiner = /^[\u200c\u200d]$/;
const variant = /^[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;
const isJoined = /(?:(?!\p{Script=Latin})[\p{L}\p{M}]|\p{Extended_Pictographic}|[\ufe0f\u{1f3fb}-\u{1f3ff}])$/u;
const hasVariants = /(?:\p{Script=Han}|\p{Emoji})$/u;

export function withoutInvisible(text: string): string {
  if (ordinary.test(text)) return text;
  return text.replace(unseen, (character: string, at: number) => {
    const before = text.slice(Math.max(0, at - 2), at);
    if (joiner.test(character)) return isJoined.test(before) ? character : "";
    return variant.test(character) && hasVariants.test(before) ? character : "";
  });
}

/** All strings and keys of a value, changed. Keys that become the same keep the first value. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  const changed = new Map<string, unknown>();
  for (const [key, one] of Object.entries(value)) {
    const name = change(key);
    if (!changed.has(name)) changed.set(name, mapTexts(one, change));
  }
  return Object.fromEntries(changed);
}

/** A number whose digits `JSON.stringify` writes as they are. */
const isRawJson = (value: object): boolean =>
  (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
