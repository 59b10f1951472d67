/** The state of the walk over a Markdown tree, and how blocks begin. */
import type { Dialect } from "./dialect.ts";
import { createRichTextBuilder, nothingYet, type RichText, type RichTextBuilder } from "./rich-text.ts";

export interface List {
  readonly tight: boolean;
  readonly ordered: boolean;
  /** The first item's number as written. If every item has the same number, the list is numbered automatically. */
  first: string;
  next: number;
}

export interface Walk {
  readonly dialect: Dialect;
  readonly out: RichTextBuilder;
  readonly lists: List[];
  readonly indents: string[];
  quotes: number;
  /** True if a bullet or the start of a quote was just written, so that the next block continues on the same line. */
  fresh: boolean;
  links: number;
}

/** Creates a walk that continues after the text of an earlier one. */
export function newWalk(dialect: Dialect, begun: RichText = nothingYet): Walk {
  const fresh = begun.text === "";
  return { dialect, out: createRichTextBuilder(begun), lists: [], indents: [], quotes: 0, fresh, links: 0 };
}

export function indentOf(walk: Walk): string {
  return walk.indents.length === 0 ? "" : walk.indents.join("");
}

export function startBlock(walk: Walk, tight: boolean): void {
  if (!walk.fresh) {
    if (tight) walk.out.freshLine();
    else walk.out.blankLine();
    walk.out.write(indentOf(walk));
  }
  walk.fresh = false;
}

/**
 * Begins a block in a fixed-width font. It starts on its own line, even after a bullet, and is not indented, because
 * copying would include the spaces.
 */
export function startVerbatim(walk: Walk): void {
  if (walk.lists.length > 0 && (walk.fresh || walk.lists.at(-1)?.tight)) walk.out.freshLine();
  else if (!walk.fresh) walk.out.blankLine();
  walk.fresh = false;
}
