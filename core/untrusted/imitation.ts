/** Finds what imitates the wrapper, a control token or a turn of a conversation, in what a text looks like. */
import { findControlTokens } from "./control-tokens.ts";
import type { Skeleton } from "./lookalike.ts";
import { findMarks } from "./marks.ts";
import { findRoleLines } from "./role-lines.ts";

export interface Imitation {
  /** `label`: a line that may begin a turn, and may be a field of a form. */
  readonly kind: "marker" | "control_token" | "turn" | "label";
  /** Range in the text as it came. */
  readonly from: number;
  readonly to: number;
}

/** Ordered by where they begin, the longest first; they may overlap. `source` is the text of the skeleton. */
export function findImitations(skeleton: Skeleton, source: string): readonly Imitation[] {
  const found: Imitation[] = [];
  const add = (kind: Imitation["kind"], { first, last }: { readonly first: number; readonly last: number }): void => {
    found.push({ kind, from: skeleton.from(first), to: skeleton.to(last) });
  };
  for (const mark of findMarks(skeleton, source)) add("marker", mark);
  for (const token of findControlTokens(skeleton.text)) add("control_token", token);
  for (const line of findRoleLines(skeleton.text)) add(line.kind, line);
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
}
