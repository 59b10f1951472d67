/** Processes text and entities after parsing, as the platform does: cleans, trims, detects and orders. */
import type { Entity, FormattedText } from "./wire.ts";

const splittable: ReadonlySet<string> = new Set(["bold", "italic", "underline", "strikethrough", "spoiler"]);
const quotes: ReadonlySet<string> = new Set(["blockquote", "expandable_blockquote"]);
const detectors: readonly { readonly type: string; readonly pattern: RegExp }[] = [
  { type: "email", pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/gi },
  {
    type: "url",
    pattern:
      /(?<![\w@./])(?:https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]']|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|me)\b(?:\/[^\s<>"]*)?)/gi,
  },
  { type: "mention", pattern: /(?<![\w@/.])@[a-z][a-z0-9_]{2,31}\b/gi },
  { type: "bot_command", pattern: /(?<![\w/<>@])\/[a-z0-9_]{1,64}(?:@[a-z][a-z0-9_]{2,31})?(?![\w/])/gi },
  { type: "hashtag", pattern: /(?<![\w#])#(?=[^\s#]*[\p{L}_])[\p{L}\p{N}_]{1,256}/gu },
];

/**
 * Replaces control characters with spaces and removes carriage returns. Other lengths, on which entities depend, do not
 * change.
 */
export function cleanText(source: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the platform replaces these characters
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
  return source.replace(control, " ");
}

/**
 * Trims white space at both ends and adjusts the entities. White space at the start that belongs to an entity is kept.
 */
export function trimText(input: FormattedText): FormattedText {
  const firstEntity = input.entities.reduce((least, entity) => Math.min(least, entity.offset), input.text.length);
  const leading = Math.min(input.text.length - input.text.trimStart().length, firstEntity);
  const text = input.text.trimEnd().slice(leading);
  if (text.length === input.text.length) return input;
  const entities: Entity[] = [];
  for (const entity of input.entities) {
    const offset = entity.offset - leading;
    const length = Math.min(entity.length, text.length - offset);
    if (length > 0) entities.push({ ...entity, offset, length });
  }
  return { text, entities };
}

/** Adds the entities that the platform detects itself: commands, mentions, links, mail addresses, hashtags. */
export function detectEntities(input: FormattedText): FormattedText {
  if (!/[/@.#]/.test(input.text)) return { text: input.text, entities: orderEntities(input.entities) };
  const found: Entity[] = [];
  const taken = new Uint8Array(input.text.length);
  for (const { type, offset, length } of input.entities)
    if (!splittable.has(type) && !quotes.has(type)) taken.fill(1, offset, offset + length);
  for (const { type, pattern } of detectors) {
    for (const match of input.text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      if (taken.subarray(match.index, end).includes(1)) continue;
      found.push({ type, offset: match.index, length: match[0].length });
      taken.fill(1, match.index, end);
    }
  }
  return {
    text: input.text,
    entities: orderEntities(found.length === 0 ? input.entities : [...input.entities, ...found]),
  };
}

function overlaps(a: Entity, b: Entity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

/**
 * Orders entities and removes forbidden combinations: code and pre contain nothing and may only be inside quotes; links
 * and mentions do not nest; quotes do not nest. Keeps at most 100.
 */
export function orderEntities(input: readonly Entity[]): readonly Entity[] {
  if (input.length === 0) return input;
  const sorted = input.toSorted((a, b) => a.offset - b.offset || b.length - a.length);
  const whole: Entity[] = [];
  const quoted: Entity[] = [];
  const rest: Entity[] = [];
  for (const entity of sorted) {
    if (splittable.has(entity.type)) rest.push(entity);
    else {
      const row = quotes.has(entity.type) ? quoted : whole;
      // They are ordered by start and do not overlap, so only the last one can reach this far.
      const last = row.at(-1);
      if (last === undefined || !overlaps(last, entity)) row.push(entity);
    }
  }
  const code = whole.filter((entity) => entity.type === "code" || entity.type === "pre");
  const result = [...whole, ...quoted, ...rest.flatMap((entity) => cutAround(entity, code))];
  return result.sort((a, b) => a.offset - b.offset || b.length - a.length).slice(0, 100);
}

/** The first hole that ends after a position. The holes are ordered and do not overlap. */
function firstBehind(holes: readonly Entity[], place: number): number {
  let low = 0;
  let high = holes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { offset, length } = holes[middle] as Entity;
    if (offset + length > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

function cutAround(entity: Entity, holes: readonly Entity[]): readonly Entity[] {
  const pieces: Entity[] = [];
  let from = entity.offset;
  const end = entity.offset + entity.length;
  for (let index = firstBehind(holes, from); index < holes.length; index += 1) {
    const hole = holes[index] as Entity;
    if (hole.offset >= end) break;
    if (hole.offset > from) pieces.push({ ...entity, offset: from, length: hole.offset - from });
    from = Math.max(from, hole.offset + hole.length);
  }
  if (from < end) pieces.push({ ...entity, offset: from, length: end - from });
  return pieces;
}
