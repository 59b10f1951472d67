/** Turns the files of a reply into parts: each by its kind, adjacent ones of the same class as albums. Pure. */
import type { Json } from "service-gateway/sdk";
import type { MarkupMessage, OutboundMedia, Part } from "service-gateway/sdk/channel";
import { type Kind, kindOf } from "./outbound-kind.ts";
import type { PartBody, PartFile } from "./part-body.ts";

const mostOfAlbum = 10;

interface Item {
  readonly media: OutboundMedia;
  readonly kind: Kind;
  readonly omitted?: string;
}

/**
 * Groups adjacent files that are sent together, in order. `lastAlone`: the last file will carry buttons, which an album
 * cannot.
 */
export function groupMedia(media: readonly OutboundMedia[], { lastAlone = false } = {}): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  for (const [index, each] of media.entries()) {
    const item: Item = { media: each, ...kindOf(each) };
    const open = groups.at(-1);
    const album = open?.[0]?.kind.album;
    const alone = lastAlone && index === media.length - 1;
    if (open === undefined || alone || album === undefined || album !== item.kind.album || open.length === mostOfAlbum)
      groups.push([item]);
    else open.push(item);
  }
  return groups;
}

function fileOf({ path, ref, fileName, mimeType }: OutboundMedia, field: string): PartFile {
  return {
    field,
    path,
    ref,
    name: fileName,
    type: mimeType,
  };
}

function captionOf(caption: MarkupMessage | undefined): { readonly [key: string]: Json } {
  return caption === undefined ? {} : { caption: caption.markup, parse_mode: "HTML" };
}

function bodyFor(items: readonly Item[], caption: MarkupMessage | undefined): PartBody {
  const [only] = items;
  const plain = caption !== undefined && { plain: caption.plain };
  if (only !== undefined && items.length === 1)
    return {
      method: only.kind.method,
      payload: captionOf(caption),
      ...plain,
      files: [fileOf(only.media, only.kind.field)],
    };
  const media = items.map(({ kind }, index) => ({ type: kind.kind, ...(index === 0 && captionOf(caption)) }));
  return {
    method: "sendMediaGroup",
    payload: { media },
    ...plain,
    files: items.map((item) => fileOf(item.media, "media")),
  };
}

export function mediaPart(items: readonly Item[], caption: MarkupMessage | undefined): Part {
  const omitted = items.map((item) => item.omitted).filter((what) => what !== undefined);
  return {
    kind: items.length > 1 ? "album" : (items[0]?.kind.kind ?? "document"),
    chars: caption?.size ?? 0,
    body: bodyFor(items, caption) as unknown as Json,
    ...(omitted.length > 0 && { omitted }),
  };
}
