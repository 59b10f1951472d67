/** Finds imitations of the wrapper, of control tokens and of conversation turns in the visible form of a text. */
import { findControlTokens } from "./control-tokens.ts";
import type { Skeleton } from "./lookalike.ts";
import { findMarks } from "./marks.ts";
import { findRoleLines } from "./role-lines.ts";

export interface Imitation {
  /** `label` is a line that may begin a turn but may also be a form field. */
  readonly kind: "marker" | "control_token" | "turn" | "label";
  /** Start of the range in the original text. */
  readonly from: number;
  readonly to: number;
}

/** Finds all imitations, ordered by their start, longest first; they may overlap. `source` is the text that the skeleton was built from. */
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
