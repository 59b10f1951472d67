/** How much of a growing text a preview in blocks shows. Pure. */
import type { AccountOptions } from "../options.ts";

type DraftChunk = AccountOptions["draftChunk"];

/** Where a block may end, best first. */
const breaks: Readonly<Record<DraftChunk["breakPreference"], readonly RegExp[]>> = {
  paragraph: [/\n\s*\n/g, /\n/g, /[.!?]\s/g],
  newline: [/\n/g, /[.!?]\s/g],
  sentence: [/[.!?]\s/g, /\n/g],
};

/** Where the last whole block of `text` ends, if `shown` characters are shown already. */
export function blockEnd(text: string, shown: number, draft: DraftChunk, limit: number): number {
  const most = Math.min(draft.maxChars, limit);
  const least = Math.min(draft.minChars, most);
  let end = shown;
  while (text.length - end >= least) {
    const window = text.slice(end, end + most);
    const places = breaks[draft.breakPreference]
      .map((pattern) =>
        [...window.matchAll(pattern)].map((match) => match.index + match[0].length).findLast((at) => at >= least),
      )
      .find((at) => at !== undefined);
    // Without a good place to end, a block waits until it has its maximum length.
    if (places === undefined && window.length < most) break;
    end += places ?? most;
  }
  return end;
}
