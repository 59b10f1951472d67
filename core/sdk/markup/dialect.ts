/** What differs between the markups of platforms. */
import type { RichText } from "./rich-text.ts";

export interface Dialect {
  /**
   * Whether the platform shows a label in the place of this address. Otherwise the address is written after its label.
   */
  isLink(url: string): boolean;
  /** The platform turns names such as `README.md` into links. They are written as code. */
  readonly linksNames?: true;
  /** Maximum number of styles in a message. The platform ignores further ones. */
  readonly mostStyles?: number;
  write(rich: RichText): string;
  /** How much of the limit a message takes that is written as `markup`. Absent: the UTF-16 units that a reader sees. */
  size?(rich: RichText, markup: string): number;
  /** The message without markup. Absent: what a reader sees, without the addresses of links. */
  plain?(rich: RichText): string;
}

/**
 * An address of a link. A longer one is written as text: it is repeated in each message over which its label is spread.
 */
export const isWebLink = (url: string): boolean => url.length <= 1_000 && /^https?:\/\/[^\s/]/i.test(url);

/** Whether a label is the address of its link, as it is written or encoded. */
export const isAddress = (label: string, url: string): boolean =>
  label === url || (/^https?:/i.test(label) && encodeURI(label) === url);

/**
 * Written into what a platform would recognize by its letters, such as a mention of everyone: it is not shown, and
 * allows no line break.
 */
export const joiner = "\u2060";
