/** Divides a styled text into stretches of the same styles. */
import type { RichText, Span } from "./rich-text.ts";

/** Selects the styles that may be combined. Code may only be inside a quote and contains no styles. */
function allowedTogether(active: readonly Span[]): Span[] {
  const inner = active.findLast((span) => span.kind === "pre" || span.kind === "code");
  const linked = active.find((span) => span.kind === "link");
  const hidden = active.some((span) => span.kind === "spoiler");
  const effective: Span[] = [];
  for (const span of active) {
    if (effective.some((each) => each.kind === span.kind)) continue;
    const verbatim = span.kind === "pre" || span.kind === "code";
    // A link or spoiler is more important than inline code. A code block is more important than any of them.
    if (verbatim && span.kind === "code" && (linked !== undefined || hidden)) continue;
    if (
      !verbatim &&
      span.kind !== "quote" &&
      inner !== undefined &&
      (inner.kind === "pre" || (linked === undefined && !hidden))
    )
      continue;
    if (verbatim && effective.some((each) => each.kind === "pre" || each.kind === "code")) continue;
    effective.push(span);
  }
  return effective;
}

/** A stretch of text with the same styles. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  /** From the outside to the inside. Quotes come first. */
  readonly styles: readonly Span[];
  /** How many of the styles continue from the previous stretch. */
  readonly shared: number;
}

function quotesFirst(spans: readonly Span[]): readonly Span[] {
  return [...spans.filter((span) => span.kind === "quote"), ...spans.filter((span) => span.kind !== "quote")];
}

export function stretches({ text, spans }: Pick<RichText, "text" | "spans">): Stretch[] {
  const points = [...new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])].sort(
    (a, b) => a - b,
  );
  const found: Stretch[] = [];
  let styles: readonly Span[] = [];
  let open: Span[] = [];
  let begun = 0;
  for (const [index, start] of points.entries()) {
    open = open.filter((span) => span.end > start);
    for (let span = spans[begun]; span !== undefined && span.start <= start; span = spans[begun]) {
      if (span.end > start) open.push(span);
      begun += 1;
    }
    const wanted = open.length < 2 ? open.slice() : allowedTogether(quotesFirst(open));
    let shared = 0;
    while (shared < styles.length && styles[shared] === wanted[shared]) shared += 1;
    styles = wanted;
    found.push({ start, end: points[index + 1] ?? start, styles, shared });
  }
  return found;
}

/** Maximum number of styles on one character: one of each kind. */
const mostKinds = 9;

/**
 * The start of the first style beyond the limit, or `undefined`. A style that continues after another one counts again.
 */
export function styleBeyond(rich: RichText, most: number): number | undefined {
  const { text, spans } = rich;
  if ((2 * spans.length + 1) * mostKinds <= most) return undefined;
  // Usually a few styles decide, because styles that begin after the position do not affect what is before it.
  for (let looked = 4 * most; ; looked *= 4) {
    const found = firstBeyond({ text, spans: spans.slice(0, looked) }, most);
    const next = spans[looked];
    if (next === undefined || (found !== undefined && found <= next.start)) return found;
  }
}

function firstBeyond(rich: Pick<RichText, "text" | "spans">, most: number): number | undefined {
  let count = 0;
  for (const { start, styles, shared } of stretches(rich)) {
    count += styles.length - shared;
    if (count > most) return start;
  }
  return undefined;
}
