/** Converts the platform's entities to Markdown. Offsets and lengths are UTF-16 units; entities may nest. */
import type { Json } from "service-gateway/sdk";
import { type Fields, list, number, record, text as textOf } from "./fields.ts";
import { instant } from "./instant.ts";

/** More than the platform ever sends; any further ones are junk. */
const mostEntities = 1_000;

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly open: string;
  readonly close: string;
  readonly verbatim: boolean;
}

export interface Entity {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
}

function insidePair(source: string, at: number): boolean {
  const [before, after] = [source.charCodeAt(at - 1), source.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** The entities inside the text, in order. */
export function readEntities(source: string, raw: Json | undefined): Entity[] {
  const entities: Entity[] = [];
  for (const each of list(raw).slice(0, mostEntities)) {
    const fields = record(each);
    const start = number(fields?.offset);
    const length = number(fields?.length);
    const type = textOf(fields?.type);
    if (fields === undefined || type === undefined || start === undefined || length === undefined) continue;
    if (
      !Number.isInteger(start) ||
      !Number.isInteger(length) ||
      start < 0 ||
      length <= 0 ||
      start + length > source.length
    )
      continue;
    if (insidePair(source, start) || insidePair(source, start + length)) continue;
    entities.push({ type, start, end: start + length, fields });
  }
  return entities.sort((a, b) => a.start - b.start || b.end - a.end);
}

const simple: Readonly<Record<string, readonly [string, string]>> = {
  bold: ["**", "**"],
  italic: ["*", "*"],
  underline: ["<u>", "</u>"],
  strikethrough: ["~~", "~~"],
  spoiler: ["||", "||"],
};

/** A run of backticks that does not occur in the code. */
function ticksFor(code: string, least: number): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  return "`".repeat(Math.max(least, longest < least ? least : longest + 1));
}

function markOf(source: string, { type, start, end, fields }: Entity): Mark | undefined {
  const inside = source.slice(start, end);
  const styled = simple[type];
  if (styled !== undefined) return { start, end, open: styled[0], close: styled[1], verbatim: false };
  if (type === "code") {
    const ticks = ticksFor(inside, 1);
    const space = /^`|`$/.test(inside) ? " " : "";
    return { start, end, open: ticks + space, close: space + ticks, verbatim: true };
  }
  if (type === "pre") {
    const ticks = ticksFor(inside, 3);
    const language = /^[\w+#.-]{1,32}$/.exec(textOf(fields.language) ?? "")?.[0] ?? "";
    const before = start === 0 || source[start - 1] === "\n" ? "" : "\n";
    const after = end === source.length || source[end] === "\n" ? "" : "\n";
    return {
      start,
      end,
      open: `${before}${ticks}${language}\n`,
      close: `${inside.endsWith("\n") ? "" : "\n"}${ticks}${after}`,
      verbatim: true,
    };
  }
  if (type === "date_time") {
    // Apps show the time in place of the text, which may be anything.
    const time = instant(fields.unix_time);
    return time === undefined ? undefined : { start, end, open: "", close: ` (${time})`, verbatim: false };
  }
  const url = type === "text_link" ? textOf(fields.url) : type === "text_mention" ? mentionUrl(fields) : undefined;
  if (url === undefined) return undefined;
  return { start, end, open: "[", close: `](${encodeDestination(url)})`, verbatim: false };
}

/** `encodeURIComponent` leaves brackets unchanged, which would end the destination. */
function encodeDestination(url: string): string {
  return url
    .toWellFormed()
    .replace(/[\s<>()\\]/g, (char) => (char === "(" ? "%28" : char === ")" ? "%29" : encodeURIComponent(char)));
}

function mentionUrl(fields: Fields): string | undefined {
  const user = number(record(fields.user)?.id);
  return user === undefined ? undefined : `tg://user?id=${user}`;
}

/**
 * Splits a style so that no piece begins or ends with white space or crosses a line break, which Markdown would not
 * accept.
 */
function pieces(source: string, mark: Mark): Mark[] {
  if (mark.verbatim) return [mark];
  const found: Mark[] = [];
  let at = mark.start;
  for (const line of source.slice(mark.start, mark.end).split("\n")) {
    const start = at + (line.length - line.trimStart().length);
    const end = start + line.trim().length;
    if (end > start) found.push({ ...mark, start, end });
    at += line.length + 1;
  }
  return found;
}

function quoteLines(markdown: string, source: string, quotes: readonly Entity[], offsets: readonly number[]): string {
  // Tracks where each source line starts in the Markdown, because quotes consist of whole lines on the platform.
  let result = "";
  let done = 0;
  let lineStart = 0;
  const lines = source.split("\n");
  for (const [index, line] of lines.entries()) {
    const at = offsets[lineStart] ?? done;
    const quoted = quotes.some(
      (quote) => quote.start <= lineStart + Math.max(0, line.length - 1) && quote.end > lineStart,
    );
    result += markdown.slice(done, at) + (quoted ? "> " : "");
    done = at;
    lineStart += line.length + 1;
    if (index === lines.length - 1) result += markdown.slice(done);
  }
  return result;
}

/**
 * Drops entities nested in one of the same type, which the platform never sends: they have no effect, but cost a style
 * for each line.
 */
function withoutRepeats(entities: readonly Entity[]): readonly Entity[] {
  const ends = new Map<string, number>();
  return entities.filter(({ type, start, end }) => {
    if (start < (ends.get(type) ?? 0)) return false;
    ends.set(type, end);
    return true;
  });
}

/** Renders text and entities as Markdown. Nothing is escaped, so typed text stays as it was typed. */
export function entitiesToMarkdown(source: string, raw: Json | undefined): string {
  const entities = withoutRepeats(readEntities(source, raw));
  const marks = entities.flatMap((entity) => {
    const mark = markOf(source, entity);
    return mark === undefined ? [] : pieces(source, mark);
  });
  const quotes = entities.filter((entity) => entity.type === "blockquote" || entity.type === "expandable_blockquote");
  if (marks.length === 0 && quotes.length === 0) return source;

  const points = [...new Set([0, source.length, ...marks.flatMap((mark) => [mark.start, mark.end])])].sort(
    (a, b) => a - b,
  );
  const offsets: number[] = [];
  let markdown = "";
  let stack: readonly Mark[] = [];
  const waiting = marks.toSorted((a, b) => a.start - b.start || b.end - a.end);
  let begun = 0;
  let active: readonly Mark[] = [];
  for (const [index, point] of points.entries()) {
    const next = points[index + 1] ?? point;
    const first = begun;
    while ((waiting[begun]?.start ?? Number.POSITIVE_INFINITY) <= point) begun += 1;
    active = [...active, ...waiting.slice(first, begun)].filter((mark) => mark.end > point);
    const verbatim = active.find((mark) => mark.verbatim);
    const wanted = verbatim === undefined ? active : [verbatim];
    let shared = 0;
    while (shared < stack.length && stack[shared] === wanted[shared]) shared += 1;
    for (const mark of stack.slice(shared).reverse()) markdown += mark.close;
    offsets[point] = markdown.length;
    for (const mark of wanted.slice(shared)) markdown += mark.open;
    stack = wanted;
    for (let at = point; at < next; at += 1) {
      if (at > point) offsets[at] = markdown.length;
      markdown += source[at];
    }
  }
  return quotes.length === 0 ? markdown : quoteLines(markdown, source, quotes, offsets);
}
