/**
 * The body of a part: one call, without chat and thread, which belong to the address. It is JSON, because it waits in
 * the outbox.
 */
import type { Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";

/** A file that a call includes: a local one by its path, or a file of the platform by its id. */
export interface PartFile {
  /** The payload field of the file; in an album, the field of the item at the same place in `media`. */
  readonly field: string;
  readonly path?: string;
  readonly ref?: string;
  readonly name?: string;
  /** Detected from its content. */
  readonly type?: string;
}

export interface PartBody {
  readonly method: string;
  readonly payload: { readonly [key: string]: Json };
  /** The same text without markup, in case the platform rejects ours. */
  readonly plain?: string;
  readonly files?: readonly PartFile[];
  /** What a person reads as one with the part before it, such as buttons below an album: sent without a pause. */
  readonly joins?: true;
}

export function bodyOf(part: Part): PartBody {
  return part.body as unknown as PartBody;
}

/** How many messages the platform counts: each item of an album is one. */
export function messagesIn(part: Part): number {
  const { media } = bodyOf(part).payload;
  return Array.isArray(media) ? media.length : 1;
}

export function joined(part: Part): Part {
  return { ...part, body: { ...bodyOf(part), joins: true } as unknown as Json };
}

export function withPayload(part: Part, more: { readonly [key: string]: Json }): Part {
  const body = bodyOf(part);
  return { ...part, body: { ...body, payload: { ...body.payload, ...more } } as unknown as Json };
}
