/**
 * The markups of Slack and WhatsApp: a pair of marks within a line, beside spaces or punctuation, which nothing
 * escapes. So a word whose own signs would be taken for marks is written as code, and a style whose marks would not
 * work is left out. https://docs.slack.dev/messaging/formatting-message-text, https://faq.whatsapp.com/539178204879377
 */
import { type Dialect, isAddress, isWebLink, joiner } from "./dialect.ts";
import { escapeHtml } from "./html.ts";
import { type Block, blocksOf, charAt, charBefore, edgesOf, eventsOf, isSpace, isWord } from "./lines.ts";
import type { RichText, Span } from "./rich-text.ts";

interface Kind {
  escape(text: string): string;
  isLink(url: string): boolean;
  link(url: string, label: string): string;
  /** Writes the beginnings of lines so that they begin neither a quote nor a list. */
  begin(written: string): string;
}

type Mark = "*" | "_" | "~" | "`";
const marks: Partial<Record<Span["kind"], Mark>> = { bold: "*", italic: "_", strike: "~", code: "`" };

const slackKind: Kind = {
  escape: escapeHtml,
  isLink: (url) => isWebLink(url) || /^mailto:[^\s|<>]{1,500}$/i.test(url),
  link: (url, label) => `<${slackKind.escape(url.replace(/[\s|<>]/g, encodeURIComponent))}|${label}>`,
  begin: (written) => written.replace(/(^|\n)(?=[^\S\n]*&gt;)/g, `$1${joiner}`),
};

const whatsappKind: Kind = {
  escape: (text) => text,
  isLink: () => false,
  link: (_url, label) => label,
  begin: (written) =>
    written.replace(/(^|\n)(?=[^\S\n]*>)/g, `$1${joiner}`).replace(/((?:^|\n)[^\S\n]*[-*]) /g, "$1\u00a0"),
};

/** A mark of ours is written beside a space or punctuation, and not beside another sign. */
const isEdge = (char: string | undefined): boolean => !isWord(char) && !(char !== undefined && /[*_~`]/.test(char));

/** The styles of a line that its marks can express. */
function expressible({ text, spans }: Block, kind: Kind): readonly Span[] {
  let labelEnd = 0;
  return spans.filter((span) => {
    const inner = text.slice(span.start, span.end);
    const isInLabel = span.end <= labelEnd;
    if (span.kind === "link") labelEnd = span.end;
    if (span.kind === "link") return kind.isLink(span.url) && !/[*_~`]/.test(inner);
    const mark = marks[span.kind];
    if (mark === undefined) return span.kind === "spoiler";
    // A label is written without styles.
    if (isInLabel) return false;
    return (
      (mark === "`" || !(inner.includes(mark) || inner.includes("`"))) &&
      isEdge(charBefore(text, span.start)) &&
      isEdge(charAt(text, span.end))
    );
  });
}

/** A sign that is a mark in some places. Cheaper than a pattern for texts of nothing else. */
function signAt(text: string, at: number): string | undefined {
  const unit = text.charCodeAt(at);
  return unit === 0x2a || unit === 0x5f || unit === 0x7e ? text[at] : undefined;
}

const isInCode = (spans: readonly Span[], at: number): boolean =>
  spans.some(({ kind, start, end }) => kind === "code" && at >= start && at < end);

interface Line extends Block {
  /** The styles that are written. */
  readonly shown: readonly Span[];
  readonly edges: ReturnType<typeof edgesOf>;
}

/** Whether the platform may take the sign at this place for a mark. Marks of ours around it are punctuation. */
function mayOpen({ text, edges }: Line, at: number): boolean {
  return (
    (edges.starts.has(at) || !isWord(charBefore(text, at))) &&
    (edges.ends.has(at + 1) || !isSpace(charAt(text, at + 1)))
  );
}
function mayClose({ text, edges }: Line, at: number): boolean {
  return (
    (edges.starts.has(at) || !isSpace(charBefore(text, at))) &&
    (edges.ends.has(at + 1) || !isWord(charAt(text, at + 1)))
  );
}

/** The signs that would pair with another one, or with a mark of ours. */
function pairingSigns(lines: readonly Line[]): ReadonlySet<string> {
  const found = new Set<string>();
  /** Signs that may have opened a pair. */
  const opened = new Set<string>();
  for (const line of lines) {
    const { text, shown } = line;
    const codes = shown.filter(({ kind }) => kind === "code");
    const ours = shown
      .flatMap((span) => [span.start, span.end].map((at) => ({ at, mark: marks[span.kind] })))
      .sort((a, b) => a.at - b.at);
    let next = 0;
    for (let at = 0; at <= text.length; at += 1) {
      for (let one = ours[next]; one !== undefined && one.at <= at; one = ours[++next])
        if (one.mark !== undefined && opened.has(one.mark)) found.add(one.mark);
      const sign = signAt(text, at);
      if (sign === undefined || found.has(sign) || isInCode(codes, at)) continue;
      if (opened.has(sign) && mayClose(line, at)) found.add(sign);
      if (!opened.has(sign) && mayOpen(line, at)) opened.add(sign);
    }
  }
  return found;
}

/** The word at a position: everything between white space. */
function wordAround(text: string, at: number): { readonly start: number; readonly end: number } {
  let [start, end] = [at, at];
  while (start > 0 && !isSpace(text[start - 1])) start -= 1;
  while (!isSpace(text[end])) end += 1;
  return { start, end };
}

/** Makes code of the words that contain one of the signs where it would be a mark. */
function asCode(line: Line, pairing: ReadonlySet<string>): readonly Span[] {
  const { text, shown } = line;
  if (pairing.size === 0) return shown;
  const words: Span[] = [];
  const codes = shown.filter(({ kind }) => kind === "code");
  for (let at = 0; at < text.length; at += 1) {
    const sign = signAt(text, at);
    if (sign === undefined || !pairing.has(sign) || isInCode(codes, at)) continue;
    if (!mayOpen(line, at) && !mayClose(line, at)) continue;
    const word = wordAround(text, at);
    words.push({ kind: "code", ...word });
    at = word.end;
  }
  if (words.length === 0) return shown;
  if (shown.length === 0) return words;
  const crosses = (span: Span) =>
    words.some(({ start, end }) => span.start < end && span.end > start && (span.start > start || span.end < end));
  const isOuter = (span: Span) => span.kind !== "code" && span.kind !== "link";
  const rest = shown.filter(
    (span) => !crosses(span) && (isOuter(span) || !words.some((word) => word.start === span.start)),
  );
  return [...rest, ...words].sort(
    (a, b) => a.start - b.start || b.end - a.end || Number(isOuter(b)) - Number(isOuter(a)),
  );
}

/** No sign escapes a backtick, so a look-alike takes the place of one that would begin code. */
const withoutBackticks = (text: string): string => text.replaceAll("`", "ˋ");

function writeLine({ text, shown }: Line, kind: Kind, hasCode: boolean): string {
  let out = "";
  let label = -1;
  for (const event of eventsOf(text, shown)) {
    if (event.type !== "text") {
      const { span } = event;
      if (span.kind === "link") {
        if (event.type === "open") label = out.length;
        else out = out.slice(0, label) + kind.link(span.url, out.slice(label));
      } else if (span.kind === "spoiler") out += "||";
      else if (span.kind === "code") out += text.slice(span.start, span.end).includes("`") ? "```" : "`";
      else out += marks[span.kind] ?? "";
    } else if (event.inside.some((span) => span.kind === "code")) {
      const space = event.text.startsWith("`") || event.text.endsWith("`") ? " " : "";
      out += space + kind.escape(withoutFences(event.text)) + space;
    } else out += kind.escape(hasCode ? withoutBackticks(event.text) : event.text);
  }
  return kind.begin(out);
}

const withoutFences = (code: string): string =>
  code.includes("```") ? code.replace(/``(?=`)/g, `\`\`${joiner}`) : code;

/** The addresses of links that have no form here follow their labels. */
function withAddresses(block: Block, kind: Kind): Block {
  const shown = new Set(expressible(block, kind));
  const hidden = block.spans.filter((span) => span.kind === "link" && !shown.has(span));
  if (hidden.length === 0) return block;
  let { text } = block;
  let { spans } = block;
  for (const span of hidden.reverse()) {
    const more = span.kind === "link" && !isAddress(text.slice(span.start, span.end), span.url) ? ` (${span.url})` : "";
    text = text.slice(0, span.end) + more + text.slice(span.end);
    spans = spans
      .filter((each) => each !== span)
      .map((each) => ({
        ...each,
        start: each.start >= span.end ? each.start + more.length : each.start,
        end: each.end > span.end ? each.end + more.length : each.end,
      }));
  }
  return { ...block, text, spans };
}

function dialectOf(kind: Kind): Dialect {
  function write(rich: RichText): string {
    const lines: Line[] = blocksOf(rich).map((block) => {
      const whole = withAddresses(block, kind);
      const shown = whole.code === undefined ? expressible(whole, kind) : [];
      return { ...whole, shown, edges: edgesOf(shown) };
    });
    const texts = lines.filter(({ code }) => code === undefined);
    const pairing = pairingSigns(texts);
    const marked = lines.map((line) => (line.code === undefined ? { ...line, shown: asCode(line, pairing) } : line));
    const all = texts.map(({ text }) => text).join("\n");
    const hasCode =
      marked.some(({ code, shown }) => code !== undefined || shown.some((span) => span.kind === "code")) ||
      all.indexOf("`") !== all.lastIndexOf("`");
    return marked
      .map((line) => {
        if (line.code !== undefined) return `\`\`\`\n${kind.escape(withoutFences(line.text))}\n\`\`\``;
        const written = writeLine(line, kind, hasCode);
        return line.isQuote ? `> ${written.replaceAll("\n", "\n> ")}` : written;
      })
      .join("\n");
  }
  return { isLink: kind.isLink, write, size: (_rich, markup) => markup.length };
}

export const mrkdwn = dialectOf(slackKind);
/** An address is a link there as it is, even without a scheme. */
export const whatsapp: Dialect = { ...dialectOf(whatsappKind), linksNames: true };
