/**
 * How much of a text is read as Markdown: parsing costs in proportion to the marks in it, and the event loop waits
 * meanwhile.
 */

/**
 * What a text may cost by default. Ordinary Markdown of 30,000 characters costs about so much, and no text of this cost
 * takes a parser more than about 40 ms.
 */
const usualCost = 10_500;
/**
 * What lines without a blank line between them may cost: one paragraph or one table. No ordinary one costs as much, and
 * no parser can be interrupted in it. Code in fences is not counted here, because it is not searched for marks.
 */
const blockCost = 4_000;
/** A cut is moved back to the beginning of its line, unless that is further away. */
const longestLine = 2_000;

/**
 * What each character costs: those at which the parser stops to ask its rules. A line is a block of its own at worst,
 * and an opening bracket is looked for its end.
 */
const costs = new Uint8Array(128);
for (const mark of "*_~|`]()<>&#\\/-+{}@$%^=:") costs[mark.charCodeAt(0)] = 1;
for (const mark of "[!.\n") costs[mark.charCodeAt(0)] = 2;
const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20];

/**
 * Splits a text into the part that is worth reading as Markdown and the rest, which a channel shows as it was written.
 * Only texts with very many marks have a rest: more than about 10,000 of them, or 4,000 in one paragraph or table.
 * Where the cut is depends on the text before it only, so it stays while a text grows. `mostCost`: 1 for a mark, 2 for
 * a line, a dot, `[` and `!`.
 *
 * @example
 * const { markdown, rest } = boundMarkdown(reply.text);
 * const text = render(markdown) + escape(rest);
 */
export function boundMarkdown(
  text: string,
  { mostCost = usualCost }: { readonly mostCost?: number } = {},
): { readonly markdown: string; readonly rest: string } {
  // No character costs more than 2.
  if (2 * text.length <= mostCost) return { markdown: text, rest: "" };
  let cost = 0;
  /** The cost at the beginning of the block. */
  let blockStart = 0;
  let isBlank = true;
  let isCode = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 128) {
      isBlank = false;
      continue;
    }
    if (unit === carriageReturn) cost += text.charCodeAt(at + 1) === lineFeed ? 0 : 2;
    else cost += costs[unit] ?? 0;
    if (unit === lineFeed) {
      if (isFence(text, at + 1)) isCode = !isCode;
      if (isBlank || isCode) blockStart = cost;
      isBlank = true;
    } else if (unit > space) isBlank = false;
    if (cost > mostCost || (!isCode && cost - blockStart > blockCost)) {
      const cut = startOfLine(text, at);
      return { markdown: text.slice(0, cut), rest: text.slice(cut) };
    }
  }
  return { markdown: text, rest: "" };
}

/** Whether a line begins or ends a block of code. */
const isFence = (text: string, at: number): boolean => text.startsWith("```", at) || text.startsWith("~~~", at);

function startOfLine(text: string, at: number): number {
  for (let start = at; start > 0 && at - start <= longestLine; start -= 1) {
    const before = text.charCodeAt(start - 1);
    if (before === lineFeed || before === carriageReturn) return start;
  }
  return at;
}
