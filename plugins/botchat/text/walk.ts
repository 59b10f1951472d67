/** Where the walk over a Markdown tree stands, and how a block begins there. */
import { createRichTextBuilder, nothingYet, type RichText, type RichTextBuilder } from "./rich-text.ts";

export interface List {
  readonly tight: boolean;
  readonly ordered: boolean;
  /** Number of the first item as it was written; one that is repeated means "and so on". */
  first: string;
  next: number;
}

export interface Walk {
  readonly out: RichTextBuilder;
  readonly lists: List[];
  readonly indents: string[];
  quotes: number;
  /** A bullet or the start of a quote was just written: the next block goes on behind it. */
  fresh: boolean;
  links: number;
}

/** A walk that goes on behind what an earlier one wrote. */
export function newWalk(begun: RichText = nothingYet): Walk {
  return { out: createRichTextBuilder(begun), lists: [], indents: [], quotes: 0, fresh: begun.text === "", links: 0 };
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

/** What is shown in a fixed-width font begins a line of its own, even behind a bullet, and is not indented: it would be copied with the spaces. */
export function startVerbatim(walk: Walk): void {
  if (walk.lists.length > 0 && (walk.fresh || walk.lists.at(-1)?.tight)) walk.out.freshLine();
  else if (!walk.fresh) walk.out.blankLine();
  walk.fresh = false;
}
