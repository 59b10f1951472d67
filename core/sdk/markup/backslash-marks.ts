/**
 * Markdown of platforms on which a backslash makes a mark text: Discord, and those that read CommonMark, such as
 * Mattermost. https://docs.mattermost.com/collaborate/format-messages.html,
 * https://support.discord.com/hc/articles/210298617
 */
import { type Dialect, isAddress, isWebLink, joiner } from "./dialect.ts";
import {
  type Block,
  backticksIn,
  blocksOf,
  charAt,
  charBefore,
  edgesOf,
  eventsOf,
  isWord,
  type LineEvent,
} from "./lines.ts";
import type { RichText, Span } from "./rich-text.ts";

/** What the two do differently. */
interface Kind {
  readonly marks: Partial<Record<Span["kind"], string>>;
  /** A style ends at the first such mark, even if it is escaped or in code. */
  readonly endsAtFirst: boolean;
  /** What begins a block at the beginning of a line: spaces, then a sign, or a number whose sign follows. */
  readonly lineStart: RegExp;
  /** Whether a mark has its effect between these characters: before it, behind it. */
  opens(outside: string | undefined, inside: string | undefined): boolean;
  /** Escapes what has a meaning within a line. */
  escape(text: string): string;
  /** An address that is its own label. */
  address(url: string, next: string | undefined): string;
  /** Whether a label may look like an address itself. */
  isLabel(label: string): boolean;
  /** Code within a line, without its marks. */
  code(text: string): string;
  /** A block of code between fences. */
  fence(code: string, language: string | undefined): string;
  /** Writes the spaces at the beginnings of lines. */
  indent(lines: string): string;
  /** Mentions, which platforms find in code, too. */
  quiet(text: string): string;
}

const common = /\\|[*~`|[\]<]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|!(?![^\n])/gu;
const address = /https?:\/\/[^\s<>]*[^\s<>.,:;!?"'()[\]*_~|`\\]/giu;
const isPunctuation = (char: string | undefined) => char !== undefined && /[\p{P}\p{S}]/u.test(char);
const styles = { bold: "**", strike: "~~", italic: "_" } as const;

const discordKind: Kind = {
  marks: { ...styles, underline: "__", spoiler: "||" },
  endsAtFirst: true,
  lineStart: /(?<![^\n])([^\S\n]*)(?:(#{1,3}|-#|[-+>]|>>>)(?=\s|$)|(\d+)(?=\.[^\S\n]))/g,
  opens: () => true,
  escape: (text) => text.replace(common, "\\$&"),
  address: (url, next) => (next === undefined || /\s/.test(next) ? url : `<${url}>`),
  // A label that contains an address is not shown as a link, nor is one with a bracket in code.
  isLabel: (label) => !/https?:|www\.|discord\.|[[\]]/i.test(label),
  // Three of them begin a block, wherever they are.
  code: (text) => text.replace(/`(?=`)/g, `\`${joiner}`),
  fence: (code, language) => `\`\`\`${language ?? ""}\n${code.replace(/``(?=`)/g, `\`\`${joiner}`)}\n\`\`\``,
  indent: (lines) => lines,
  quiet: (text) => text.replace(/@(?=everyone|here)|(?<=<)(?=@[!&]?\d)/gi, (at) => `${at}${joiner}`),
};

const markdownKind: Kind = {
  marks: styles,
  endsAtFirst: false,
  lineStart: /(?<![^\n])([^\S\n]*)(?:([#>+=-])|(\d{1,9})(?=[.)](?:\s|$)))/g,
  opens: (outside, inside) =>
    !isPunctuation(inside) || outside === undefined || /\s/.test(outside) || isPunctuation(outside),
  // A name behind the sign is a mention, and some names are everyone.
  escape: (text) =>
    text
      .replace(common, "\\$&")
      .replace(/&(?=#?\w+;)/g, "\\&")
      .replace(/(?<![\p{L}\p{N}])@(?=[\p{L}\p{N}])/gu, `@${joiner}`),
  address: (url) =>
    url.includes("@") ? `[${markdownKind.escape(url)}](${encodedUrl(url).replaceAll("@", "%40")})` : `<${url}>`,
  isLabel: () => true,
  code: (text) => text,
  fence(code, language) {
    const ticks = "`".repeat(Math.max(3, backticksIn(code) + 1));
    return `${ticks}${language ?? ""}\n${code}\n${ticks}`;
  },
  // Spaces would begin a block of code.
  indent: (lines) => lines.replace(/(?<![^\n])[^\S\n]+/g, (spaces) => "\u00a0".repeat(spaces.length)),
  quiet: (text) => text,
};

/** What has to be encoded in the address of a link. */
const encodedUrl = (url: string): string =>
  url.replace(/[\s()<>[\]\\"`|*_~]/g, (char) => (/[*_~]/.test(char) ? char : percent(char)));
const percent = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

function writeCode(text: string, kind: Kind): string {
  const code = kind.code(text);
  const ticks = "`".repeat(backticksIn(code) + 1);
  const space = /^`|`$/.test(code) ? " " : "";
  return `${ticks}${space}${kind.quiet(code)}${space}${ticks}`;
}

/** Styles whose marks have an effect where they are. */
function effective({ text, spans }: Block, kind: Kind): readonly Span[] {
  const { starts, ends } = edgesOf(spans);
  const codes = kind.endsAtFirst ? spans.filter((span) => span.kind === "code") : [];
  return spans.filter(({ kind: style, start, end }) => {
    if (style === "link") return true;
    const inner = text.slice(start, end);
    if (style === "code") return inner.trim() !== "";
    const mark = kind.marks[style];
    if (mark === undefined) return style === "spoiler";
    const isBroken = (code: Span) =>
      code.start >= start && code.end <= end && text.slice(code.start, code.end).includes(mark);
    if (inner.includes(mark) && codes.some(isBroken)) return false;
    if (kind.endsAtFirst && hasInAddress(inner, style === "italic" ? ["_", "*"] : [mark])) return false;
    // What is written inside may begin or end with a sign of its own: that of another style, or of an address.
    const first = starts.get(start) !== 1 || /^https?:/i.test(inner) ? "(" : charAt(text, start);
    const last = ends.get(end) !== 1 || endsInAddress(inner) ? ")" : charBefore(text, end);
    return kind.opens(charBefore(text, start), first) && kind.opens(charAt(text, end), last);
  });
}

/** Whether an address has one of the marks, which cannot be escaped there. */
const hasInAddress = (text: string, marks: readonly string[]): boolean =>
  marks.some((mark) => text.includes(mark)) &&
  [...text.matchAll(address)].some(([url]) => marks.some((mark) => url.includes(mark)));

function endsInAddress(text: string): boolean {
  const word = /\S*$/.exec(text.slice(-2_000))?.[0] ?? "";
  return [...word.matchAll(address)].some(({ 0: url, index }) => index + url.length === word.length);
}

/** The marks of a style at one of its ends. */
function markOf(span: Span, text: string, { kind, isEnd }: { readonly kind: Kind; readonly isEnd: boolean }): string {
  // A platform that cannot hide text shows the bars.
  if (span.kind === "spoiler" && kind.marks.spoiler === undefined) return "\\|\\|";
  const isInWord = isWord(charBefore(text, span.start)) || isWord(charAt(text, span.end));
  const mark = span.kind === "italic" && isInWord ? "*" : (kind.marks[span.kind] ?? "");
  return isEnd && mark !== "" && charBefore(text, span.end) === mark[0]
    ? (kind.endsAtFirst ? joiner : "") + mark
    : mark;
}

function writeText({ text, at }: Extract<LineEvent, { type: "text" }>, line: string, kind: Kind): string {
  const escaped = (words: string, isStart: boolean) => {
    const firstEnd = words.indexOf("\n");
    const start = isStart ? 0 : firstEnd < 0 ? words.length : firstEnd;
    // One pattern for all lines: a call for each costs more than the line.
    const lines = kind.indent(kind.escape(words.slice(start))).replace(kind.lineStart, "$1$3\\$2");
    return start === 0 ? lines : kind.escape(words.slice(0, start)) + lines;
  };
  let out = "";
  let done = 0;
  for (const { 0: url, index } of text.matchAll(address)) {
    out += escaped(text.slice(done, index), at + done === 0);
    done = index + url.length;
    out += kind.address(url, line[at + done]);
  }
  return kind.quiet(out + escaped(text.slice(done), at + done === 0));
}

function writeLine(block: Block, kind: Kind): string {
  const { text } = block;
  let out = "";
  const links: { readonly span: Extract<Span, { kind: "link" }>; readonly from: number }[] = [];
  for (const event of eventsOf(text, effective(block, kind))) {
    if (event.type === "text") {
      const { inside } = event;
      out += inside.some((span) => span.kind === "code") ? writeCode(event.text, kind) : writeText(event, text, kind);
    } else if (event.span.kind === "link") {
      if (event.type === "open") links.push({ span: event.span, from: out.length });
      else out = closeLink(out, links.pop(), { text, kind });
    } else if (event.span.kind !== "code") out += markOf(event.span, text, { kind, isEnd: event.type === "close" });
  }
  return out;
}

function closeLink(
  out: string,
  link: { readonly span: Extract<Span, { kind: "link" }>; readonly from: number } | undefined,
  { text, kind }: { readonly text: string; readonly kind: Kind },
): string {
  if (link === undefined) return out;
  const { span, from } = link;
  const label = text.slice(span.start, span.end);
  const before = out.slice(0, from);
  if (isAddress(label, span.url) && /^https?:[^\s<>\\]+$/i.test(label))
    return before + kind.address(label, text[span.end]);
  if (!kind.isLabel(label)) return `${out} (<${encodedUrl(span.url)}>)`;
  return `${before}[${out.slice(from)}](${encodedUrl(span.url)})`;
}

function writeBlock(block: Block, kind: Kind): string {
  const { text, code, isQuote } = block;
  const written = code === undefined ? writeLine(block, kind) : kind.quiet(kind.fence(text, code.language));
  return isQuote ? `> ${written.replaceAll("\n", "\n> ")}` : written;
}

function dialectOf(kind: Kind): Dialect {
  const write = (rich: RichText) =>
    blocksOf(rich)
      .map((block) => writeBlock(block, kind))
      .join("\n");
  return { isLink: isWebLink, write, size: (_rich, markup) => markup.length };
}

export const discord = dialectOf(discordKind);
export const markdown = dialectOf(markdownKind);
