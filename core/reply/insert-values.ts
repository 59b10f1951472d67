/**
 * Inserts values into a text that an operator wrote in Markdown. A value is shown letter by letter: it is escaped in
 * text, unchanged in code, and encoded in the target of a link. The operator's Markdown decides which of these applies,
 * and no value changes that.
 */
import type { Token } from "markdown-it";
import { escapeMarkdown } from "./escape-markdown.ts";
import { markdownParser } from "./markdown-parser.ts";

/**
 * Text of the operator, or the place of a value. `isMarkdown`: the value is Markdown itself, and is inserted unchanged.
 */
export type Piece = string | { readonly isMarkdown: boolean };

type Values = readonly string[];
/** Writes a part of the text. */
type Write = (values: Values) => string;

/** The place of a value in the text that is parsed. */
interface Slot {
  readonly index: number;
  readonly at: number;
  readonly isMarkdown: boolean;
}

/** A part of the parsed text that is not written piece by piece. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly write: Write;
}

/** Stands for a value while the text is parsed: a private character is a letter to a parser. */
const firstMark = 0xf0000;
const mostSlots = 0xfffd;
const marks = /[\u{F0000}-\u{FFFFD}]/u;
const markOf = (index: number) => String.fromCodePoint(firstMark + index);

/** Without these, every value is inserted into text. */
const maybeCode = /[`~<]|\]\(|^[ \t>]*(?: {4}|\t)/m;

/** Compiles the text once. The returned function takes the values in the order of their places. */
export function compileInsertion(pieces: readonly Piece[]): Write {
  let source = "";
  const slots: Slot[] = [];
  for (const piece of pieces) {
    if (typeof piece === "string") source += piece;
    else {
      slots.push({ index: slots.length, at: source.length, isMarkdown: piece.isMarkdown });
      source += markOf(slots.length - 1);
    }
  }
  const isParsed =
    slots.length > 0 &&
    slots.length <= mostSlots &&
    maybeCode.test(source) &&
    !pieces.some((one) => typeof one === "string" && marks.test(one));
  const found = isParsed ? readPlaces(source, slots) : nowhere;
  return writeAll(writesOf(source, slots, found));
}

interface Places {
  readonly regions: readonly Region[];
  /** How a value outside of regions is written, by its index; absent: as text. */
  readonly values: ReadonlyMap<number, (value: string) => string>;
}

const nowhere: Places = { regions: [], values: new Map() };

function writeAll(writes: readonly (string | Write)[]): Write {
  return (values) => {
    let text = "";
    for (const write of writes) text += typeof write === "string" ? write : write(values);
    return text;
  };
}

/** The text in order: the operator's words, values, and regions. */
function writesOf(source: string, slots: readonly Slot[], { regions, values }: Places): readonly (string | Write)[] {
  const writes: (string | Write)[] = [];
  let done = 0;
  const isInside = ({ at }: Slot) => regions.some(({ start, end }) => at >= start && at < end);
  const outside = slots.filter((slot) => !isInside(slot));
  const parts: Region[] = outside.map(({ index, at, isMarkdown }) => {
    const write = isMarkdown ? unchanged : (values.get(index) ?? escapeMarkdown);
    return { start: at, end: at + 2, write: (given) => write(given[index] ?? "") };
  });
  const escaped = new Set(
    outside.filter(({ index, isMarkdown }) => !isMarkdown && !values.has(index)).map(({ at }) => at),
  );
  for (const { start, end, write } of [...parts, ...regions].sort((a, b) => a.start - b.start)) {
    const before = source.slice(done, start);
    writes.push(escaped.has(start) ? closed(before) : before, write);
    done = end;
  }
  writes.push(source.slice(done));
  return writes.filter((write) => write !== "");
}

/**
 * What the operator wrote before a value, so that it stays text whatever the value is. A backslash before a letter is
 * text, and would escape the first character of an escaped value. An angle bracket would turn a value such as
 * `a@b.example` into a link and disappear.
 */
function closed(before: string): string {
  const isOdd = (/\\*$/.exec(before)?.[0].length ?? 0) % 2 === 1;
  return `${before.replace(/(?<!\\)<(?=[^\s<>]*$)/, "\\<")}${isOdd ? "\\" : ""}`;
}

const unchanged = (value: string) => value;

/** Finds code and the targets of links, as the parser of replies sees them. */
function readPlaces(source: string, slots: readonly Slot[]): Places {
  const regions: Region[] = [];
  const values = new Map<number, (value: string) => string>();
  const lines = linesOf(source);
  let isTable = false;
  for (const token of markdownParser().parse(source, {})) {
    if (token.type === "table_open") isTable = true;
    else if (token.type === "table_close") isTable = false;
    else if (token.type === "fence" && marks.test(token.content + token.info))
      add(fenceIn(token, { source, lines, slots }));
    else if (token.type === "code_block" && marks.test(token.content)) add(indentedIn(token, { source, lines, slots }));
    else for (const child of token.children ?? []) readInline(child);
  }
  return { regions, values };

  function add(region: Region | undefined): void {
    if (region !== undefined) regions.push(region);
  }

  function readInline(token: Token): void {
    if (token.type === "code_inline" && marks.test(token.content)) add(spanIn(token, { source, slots, isTable }));
    const target = String(token.attrGet("href") ?? token.attrGet("src") ?? "");
    const title = String(token.attrGet("title") ?? "");
    for (const { index } of target === "" && title === "" ? [] : slots) {
      const mark = markOf(index);
      if (target.includes(encodeURIComponent(mark)))
        values.set(index, token.info === "auto" ? encodeAddress : encodeTarget);
      else if (title.includes(mark)) values.set(index, escapeTitle);
    }
    for (const child of token.children ?? []) readInline(child);
  }
}

interface Line {
  readonly start: number;
  readonly text: string;
}

function linesOf(source: string): readonly Line[] {
  let start = 0;
  return source.split("\n").map((text) => {
    const line = { start, text };
    start += text.length + 1;
    return line;
  });
}

/** The part of the source between two positions, with its values as `write` gives them. */
function contentOf(
  source: string,
  slots: readonly Slot[],
  { start, end }: Pick<Region, "start" | "end">,
  write: (value: string) => string,
): Write {
  const writes: (string | Write)[] = [];
  let done = start;
  for (const { index, at } of slots) {
    if (at < start || at >= end) continue;
    writes.push(source.slice(done, at), (given) => write(given[index] ?? ""));
    done = at + 2;
  }
  writes.push(source.slice(done, end));
  return writeAll(writes);
}

/** Inline code. Its delimiters are as long as the values require, and it is left out where it would be empty. */
function spanIn(
  token: Token,
  { source, slots, isTable }: { readonly source: string; readonly slots: readonly Slot[]; readonly isTable: boolean },
): Region | undefined {
  const inside = slots.find(({ index }) => token.content.includes(markOf(index)));
  if (inside === undefined) return undefined;
  const runs = [...source.matchAll(/`+/g)].filter(([run]) => run.length === token.markup.length);
  const opening = runs.findLast(({ index }) => index < inside.at);
  const closing = runs.find(({ index }) => index > inside.at);
  if (opening === undefined || closing === undefined) return undefined;
  const start = opening.index + opening[0].length;
  const end = closing.index;
  const written = source.slice(start, end);
  const isPadded = /^ .* $/s.test(written) && written.trim() !== "";
  // Where the parser reads anything else here, such as the beginnings of quoted lines, values are escaped instead.
  const read = written.replaceAll("\n", " ");
  if ((isPadded ? read.slice(1, -1) : read).replace(/\\\|/g, isTable ? "|" : "\\|") !== token.content) return undefined;
  const content = contentOf(source, slots, { start, end }, (value) => {
    const line = value.replace(/\r\n?|\n/g, " ");
    return isTable ? line.replaceAll("|", "\\|") : line;
  });
  return {
    start: opening.index,
    end: end + closing[0].length,
    write(given) {
      const code = content(given);
      if (code.trim() === "") return "";
      const taken = new Set([...code.matchAll(/`+/g)].map(([run]) => run.length));
      let length = token.markup.length;
      while (taken.has(length)) length += 1;
      const delimiter = "`".repeat(length);
      const needsSpace = /^`|`$/.test(code) || (/^ .* $/s.test(code) && !isPadded);
      return needsSpace ? `${delimiter} ${code} ${delimiter}` : `${delimiter}${code}${delimiter}`;
    },
  };
}

interface Around {
  readonly source: string;
  readonly lines: readonly Line[];
  readonly slots: readonly Slot[];
}

/** The beginning of a line that belongs to the list or quote around it, as it is written on the lines that follow. */
const continued = (before: string) => before.replace(/[^>\s]/g, " ");

/** A block of code between fences, which become longer than every run of their sign in the values. */
function fenceIn({ map, markup, info }: Token, { source, lines, slots }: Around): Region | undefined {
  const opening = lines[map?.[0] ?? -1];
  const last = lines[(map?.[1] ?? 0) - 1];
  const column = opening?.text.indexOf(markup) ?? -1;
  if (opening === undefined || last === undefined || column === -1) return undefined;
  const sign = markup.charAt(0);
  const closing = last === opening ? null : /^([\s>]*)(`{3,}|~{3,})[ \t]*$/.exec(last.text);
  const isClosed = closing?.[2]?.startsWith(markup) === true;
  const end = last.start + last.text.length;
  const body = { start: opening.start + opening.text.length, end: isClosed ? last.start : end };
  const head = { start: opening.start + column + markup.length, end: body.start };
  const inside = slots.filter(({ at }) => at >= body.start && at < body.end);
  const before = continued(opening.text.slice(0, column));
  const words = contentOf(source, slots, head, (value) => value.replace(/[^\w+#.-]/g, "").slice(0, 32));
  const code = contentOf(source, slots, body, (value) => value.replace(/\r\n?|\n/g, `\n${before}`));
  const runs = new RegExp(`${sign}+`, "g");
  return {
    start: opening.start,
    end,
    write(given) {
      const longest = Math.max(
        0,
        ...inside.flatMap(({ index }) => (given[index] ?? "").match(runs) ?? []).map((run) => run.length),
      );
      const fence = sign.repeat(Math.max(markup.length, longest + 1));
      const rest = isClosed ? `${closing?.[1] ?? ""}${fence}` : "";
      return `${opening.text.slice(0, column)}${fence}${info === "" ? "" : words(given)}${code(given)}${rest}`;
    },
  };
}

/** A block of code by its indentation, which each line of a value gets. */
function indentedIn({ map }: Token, { source, lines, slots }: Around): Region | undefined {
  const first = lines[map?.[0] ?? -1];
  const last = lines[(map?.[1] ?? 0) - 1];
  if (first === undefined || last === undefined) return undefined;
  const indent = continued(/^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*/.exec(first.text)?.[0] ?? "");
  const region = { start: first.start, end: last.start + last.text.length };
  return { ...region, write: contentOf(source, slots, region, (value) => value.replace(/\r\n?|\n/g, `\n${indent}`)) };
}

const percent = (text: string) =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");

/** An address between angle brackets, where nothing can be escaped. */
function encodeAddress(value: string): string {
  return value.trim().replace(/[\s\p{Cc}<>\\`]/gu, percent);
}

/** The target of a link. */
function encodeTarget(value: string): string {
  return value
    .trim()
    .replace(/[\s\p{Cc}<>()[\]\\"'`{}|^]/gu, percent)
    .replace(/[*_~&!]/g, "\\$&");
}

function escapeTitle(value: string): string {
  return escapeMarkdown(value).replace(/["'()]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
