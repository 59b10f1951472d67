/** Checks that every text is shown completely, within its limit, and notifies no one. */
import fc from "fast-check";
import { expect } from "vitest";
import type { MarkupDialect } from "../../../../core/sdk/markup/dialects.ts";
import { readMarkdown } from "../../../../core/sdk/markup/markdown.ts";
import { renderMarkdown } from "../../../../core/sdk/markup/render.ts";
import { telegram } from "../../../../core/sdk/markup/telegram.ts";
import { documents } from "./documents.ts";
import { type Shown, showDiscord, showMarkdown, showMatrix, showMrkdwn, showWhatsapp } from "./platform-models.ts";

export const shows: Partial<Record<MarkupDialect, (markup: string) => Shown>> = {
  mrkdwn: showMrkdwn,
  discord: showDiscord,
  whatsapp: showWhatsapp,
  matrix: showMatrix,
  markdown: showMarkdown,
};
export const shownDialects = Object.keys(shows) as MarkupDialect[];

/** What a reader sees, without white space, what is invisible, and look-alikes of backticks. */
const visible = (text: string) =>
  text
    .replaceAll("ˋ", "`")
    .replaceAll("%22", '"')
    .replace(/[\s\u00a0]/g, "")
    .replace(/\p{Default_Ignorable_Code_Point}|\p{Cc}/gu, "");

/** Where a label cannot be a link, the address follows it. Signs before the lines of a quote are no words. */
export function withoutAddresses(markdown: string): (text: string) => string {
  const urls = readMarkdown(markdown, telegram).spans.flatMap((span) => (span.kind === "link" ? [span.url] : []));
  const forms = urls.flatMap((url) => [
    url,
    url.replace(/[()"|`[\]\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
  ]);
  return (text) => {
    let words = visible(text);
    for (const url of forms.toSorted((a, b) => b.length - a.length)) words = words.replaceAll(visible(`(${url})`), "");
    // Hidden text stays between its bars where it cannot be hidden, and a quote may have a sign before each line.
    return words.replace(/[|>]/g, "");
  };
}

const parts = [
  ..."* _ ~ ` ``` ** a Word é 😀 || \\ < > & | [ ( ) ! # = + \\* \\_ \\~ \\` ](https://x.y)".split(" "),
  ..."@everyone @room @channel <@U1> <!here>".split(" "),
  ...["> ", "# ", "- ", "1. ", "\n", "\n\n", " ", "    ", "https://x.y/a_b*c "],
];
const marked = fc.array(fc.constantFrom(...parts), { maxLength: 40 }).map((some) => some.join(""));

/** Compares what the model of the platform shows of each message with its words. */
export function expectComplete(dialect: MarkupDialect, numRuns: number): void {
  fc.assert(
    fc.property(fc.oneof(marked, documents), fc.constantFrom(60, 200, 4_000), (markdown, limit) => {
      const words = withoutAddresses(markdown);
      for (const { markup, plain, size } of renderMarkdown(markdown, { dialect, limit })) {
        const shown = shows[dialect]?.(markup);
        expect(size).toBeLessThanOrEqual(limit);
        expect(markup.isWellFormed()).toBe(true);
        expect(shown?.pings).toEqual([]);
        expect(words(shown?.text ?? "")).toBe(words(plain));
      }
    }),
    { numRuns },
  );
}
