/** A reply as messages in the markup of a platform. */
import { chunkText } from "./chunk.ts";
import type { Dialect } from "./dialect.ts";
import { dialectOf, type MarkupDialect } from "./dialects.ts";
import { createGrowingText } from "./growing.ts";
import { readMarkdown } from "./markdown.ts";
import type { RichText } from "./rich-text.ts";

/**
 * One message of a rendered reply.
 *
 * @example
 * const part: Part = { kind: "text", chars: message.size, body: { content: message.markup } };
 */
export interface MarkupMessage {
  /** The message in the platform's markup. */
  readonly markup: string;
  /**
   * The same without markup: for platforms that take both, such as Matrix, and for a second attempt if the platform
   * refuses the markup.
   */
  readonly plain: string;
  /**
   * What the message takes of `limit`. `html`: the UTF-16 units that a reader sees, as Telegram counts. `matrix`: the
   * bytes of `markup` and `plain` as JSON. All others: the UTF-16 units of `markup`.
   */
  readonly size: number;
}

/**
 * How a reply is rendered and divided.
 *
 * @example
 * const options: MarkupOptions = { dialect: "discord", limit: 2_000 };
 */
export interface MarkupOptions {
  readonly dialect: MarkupDialect;
  /** Maximum `size` of a message. */
  readonly limit: number;
  /** `length` (default): as few messages as the limit allows. `newline`: a message for each paragraph. */
  readonly mode?: "length" | "newline";
}

/** With its signs, a single character takes up to so much. */
const leastLimit = 8;

/**
 * Renders a reply in the markup of a platform, in messages that are within its limit. A message ends at a paragraph,
 * else at a line, a sentence or a word, never inside a character, a mark or an entity. Styles, quotes and blocks of
 * code continue in the next message, and a table that fits into one message is not divided. What has no form on the
 * platform is written as text: headings are bold, tables are aligned or become lists.
 *
 * Words are shown letter by letter: nothing in them becomes markup, a link or a mention. Where a
 * platform finds mentions in any text, also say in the request that there are none: `allowed_mentions: { parse: [] }`
 * on Discord, `"m.mentions": {}` on Matrix.
 *
 * Total and bounded: every text is rendered, and none takes long; see `boundMarkdown`. A text that shows nothing has no
 * message. `firstLimit` is a smaller limit of the first message, such as a caption. Throws `RangeError` for an unknown
 * dialect, and for a limit below 8.
 *
 * @example
 * renderMarkdown("**Hi** <!channel>", { dialect: "mrkdwn", limit: 4_000 });
 * // [{ markup: "*Hi* &lt;!channel&gt;", plain: "Hi <!channel>", size: 22 }]
 */
export function renderMarkdown(
  markdown: string,
  { dialect: name, limit, firstLimit = limit, mode = "length" }: MarkupOptions & { readonly firstLimit?: number },
): readonly MarkupMessage[] {
  const dialect = dialectOf(name);
  checkLimit(Math.min(limit, firstLimit));
  const chunks = chunkText(readMarkdown(markdown, dialect), { dialect, limit, firstLimit, mode });
  return chunks.map((chunk, index) => messageOf(chunk, dialect, index === 0 ? Math.min(firstLimit, limit) : limit));
}

/**
 * Renders a reply while it grows, as a preview needs it: call the returned function with the whole text so far. The
 * messages are those of `renderMarkdown`, but what cannot change any more is not rendered again: the same messages are
 * the same objects. While a very long block grows, the messages may be older than the text. A text that does not begin
 * like the previous one is a new text.
 *
 * @example
 * const messagesOf = growingMarkdown({ dialect: "discord", limit: 2_000 });
 * const update = (text: string) => show(messagesOf(text));
 */
export function growingMarkdown({
  dialect: name,
  limit,
  mode = "length",
}: MarkupOptions): (markdown: string) => readonly MarkupMessage[] {
  const dialect = dialectOf(name);
  checkLimit(limit);
  return createGrowingText({ dialect, limit, mode }, (chunk) => messageOf(chunk, dialect, limit));
}

function checkLimit(limit: number): void {
  if (!(limit >= leastLimit)) throw new RangeError(`The limit of a message is ${limit}: give at least ${leastLimit}`);
}

function messageOf(rich: RichText, dialect: Dialect, limit: number): MarkupMessage {
  const { text, spans, wholes } = rich;
  const markup = dialect.write(rich);
  const size = dialect.size?.(rich, markup) ?? text.length;
  // A style whose marks are longer than a message is left out, such as a link with an endless address.
  if (size > limit && spans.length > 0) return messageOf({ text, spans: [], wholes }, dialect, limit);
  return { markup, plain: dialect.plain?.(rich) ?? text, size };
}
