/** Content that a person's app sends as several messages: albums, and texts that are too long for one. */

import type { Entity, Message } from "../wire.ts";
import type { SayOptions, SentMedia } from "./saying.ts";

const maxText = 4096;
/** Apps do not search further back than this for a better cut than the middle of a word. */
const earliestCut = 4000;

type Say = (text: string, options: SayOptions) => Message;

export function sendAlbum({
  say,
  album,
  files,
  options,
}: {
  readonly say: Say;
  readonly album: string;
  readonly files: readonly SentMedia[];
  readonly options: SayOptions & { readonly caption?: string };
}): readonly Message[] {
  const { caption = "", ...rest } = options;
  return files.map((media, index) => say(index === 0 ? caption : "", { ...rest, media, album }));
}

export function pasteText({
  say,
  text,
  options,
}: {
  readonly say: Say;
  readonly text: string;
  readonly options: SayOptions;
}): readonly Message[] {
  return cuts(text).map(({ start, end }) => {
    const entities = (options.entities ?? []).flatMap((entity) => within(entity, start, end));
    return say(text.slice(start, end), { ...options, entities });
  });
}

/** Splits a text. White space at a cut belongs to no part. */
function cuts(text: string): readonly { readonly start: number; readonly end: number }[] {
  const parts: { readonly start: number; readonly end: number }[] = [];
  let start = text.length - text.trimStart().length;
  while (start < text.trimEnd().length) {
    const end = start + text.slice(start, cutAt(text, start)).trimEnd().length;
    parts.push({ start, end });
    start = end + (text.slice(end).length - text.slice(end).trimStart().length);
  }
  return parts;
}

function cutAt(text: string, start: number): number {
  const limit = start + maxText;
  if (text.length <= limit) return text.length;
  for (const separator of ["\n", " "]) {
    const at = text.lastIndexOf(separator, limit);
    if (at >= start + earliestCut) return at;
  }
  return /[\uD800-\uDBFF]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
}

/** The section of an entity in a part. A style across a cut is closed there and opened again in the next part. */
function within(entity: Entity, start: number, end: number): Entity[] {
  const from = Math.max(entity.offset, start);
  const to = Math.min(entity.offset + entity.length, end);
  return to > from ? [{ ...entity, offset: from - start, length: to - from }] : [];
}
