/** Body of a part: one call, without chat and thread, which are the address's. It waits in the outbox, so it is JSON. */
import type { Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";

/** A file that a call sends along: ours, by its path, or the platform's, by its handle. */
export interface PartFile {
  /** Field of the payload that takes it; in an album, of the item that has the same place in `media`. */
  readonly field: string;
  readonly path?: string;
  readonly ref?: string;
  readonly name?: string;
  /** By its content. */
  readonly type?: string;
}

export interface PartBody {
  readonly method: string;
  readonly payload: { readonly [key: string]: Json };
  /** The same text without markup, for the one case in which the platform refuses ours. */
  readonly plain?: string;
  readonly files?: readonly PartFile[];
}

export function bodyOf(part: Part): PartBody {
  return part.body as unknown as PartBody;
}

/** How many messages the platform counts for it: each item of an album is one. */
export function messagesIn(part: Part): number {
  const { media } = bodyOf(part).payload;
  return Array.isArray(media) ? media.length : 1;
}

export function withPayload(part: Part, more: { readonly [key: string]: Json }): Part {
  const body = bodyOf(part);
  return { ...part, body: { ...body, payload: { ...body.payload, ...more } } as unknown as Json };
}
