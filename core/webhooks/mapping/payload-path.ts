/**
 * Paths into a payload: `pull_request.labels[0].name`, `labels.0`, `metadata["app.example.org/name"]`.
 *
 * Only own properties are read, so that no path reaches a prototype. An invalid path is an error with its position;
 * nothing is guessed.
 */
import type { Json } from "../../contract/index.ts";

export type PayloadReader = (payload: Json) => Json | undefined;

/** A syntax error and its character index in the text, from 0. */
export class PathMistake extends Error {
  override readonly name = "PathMistake";
  readonly index: number;

  constructor(what: string, index: number) {
    super(what);
    this.index = index;
  }
}

export class PayloadPathError extends Error {
  override readonly name = "PayloadPathError";
  /** Column in its line, from 1. */
  readonly column: number;

  /** `message` has no full stop, as in a configuration `Problem`. */
  constructor(mistake: PathMistake, text: string) {
    const place = placeOf(text, mistake.index);
    super(`${mistake.message}, at ${renderPlace(place)}`);
    this.column = place.column;
  }
}

/** Compiles a path to a reader, which returns `undefined` if the payload lacks the path. Throws `PayloadPathError`. */
export function compilePayloadPath(text: string): PayloadReader {
  return readerOf(parsePayloadPath(text));
}

/** Parses a path to its keys, which are the same for `labels[0]` and `labels.0`. Throws `PayloadPathError`. */
export function parsePayloadPath(text: string): readonly string[] {
  try {
    const start = skipSpace(text, 0);
    const { keys, end } = scanPath(text, start);
    const rest = skipSpace(text, end);
    if (rest < text.length)
      throw new PathMistake(`${shownAt(text, rest)} does not belong in a path; ${namesInQuotes}`, rest);
    return keys;
  } catch (error) {
    throw error instanceof PathMistake ? new PayloadPathError(error, text) : error;
  }
}

export function readerOf(keys: readonly string[]): PayloadReader {
  return (payload) => {
    let value: unknown = payload;
    for (const key of keys) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    return value as Json;
  };
}

/** Renders keys as text that `parsePayloadPath` accepts. */
export function renderPayloadPath(keys: readonly string[]): string {
  let text = "";
  for (const key of keys) {
    if (wholeIndex.test(key)) text += `[${key}]`;
    else if (wholeName.test(key)) text += text === "" ? key : `.${key}`;
    else text += `["${key.replace(/["\\]/g, "\\$&")}"]`;
  }
  return text;
}

export const namesInQuotes = 'names of other characters than letters, digits and _ - $ @ : are written ["like this"]';

const bareName = /[\p{L}\p{M}\p{N}_$@:-]+/uy;
const wholeName = /^[\p{L}\p{M}\p{N}_$@:-]+$/u;
const bracketIndex = /\[\s*(0|[1-9][0-9]*)\s*\]/y;
const wholeIndex = /^(?:0|[1-9][0-9]*)$/;

interface Scanned {
  readonly keys: readonly string[];
  /** Index of the first character after the path. */
  readonly end: number;
}

/** Reads the longest path that begins at `start`. Throws `PathMistake`. */
export function scanPath(text: string, start: number): Scanned {
  const keys: string[] = [];
  let index = start;
  for (;;) {
    const opens = text[index] === "[";
    if (!opens && keys.length > 0) {
      if (text[index] !== ".") return { keys, end: index };
      index += 1;
    }
    const { key, end } = opens ? scanBracket(text, index) : scanName(text, index);
    keys.push(key);
    index = end;
  }
}

interface Key {
  readonly key: string;
  readonly end: number;
}

function scanName(text: string, index: number): Key {
  const key = matchAt(bareName, text, index)?.[0];
  if (key === undefined)
    throw new PathMistake(
      `a name is missing${index < text.length ? ` before ${shownAt(text, index)}` : ""}; ${namesInQuotes}`,
      index,
    );
  return { key, end: index + key.length };
}

function scanBracket(text: string, index: number): Key {
  const digits = matchAt(bracketIndex, text, index);
  if (digits !== undefined) return { key: digits[1] ?? "", end: index + digits[0].length };
  const start = skipSpace(text, index + 1);
  if (!isQuote(text[start]))
    throw new PathMistake('brackets take an index such as [0], or a name in quotes such as ["a.b"]', index);
  const quoted = scanQuoted(text, start);
  const end = skipSpace(text, quoted.end);
  if (text[end] !== "]") throw new PathMistake('"]" is missing', end);
  return { key: quoted.key, end: end + 1 };
}

export function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

/** Reads a text in single or double quotes. A backslash escapes a quote or a backslash. */
export function scanQuoted(text: string, start: number): Key {
  const quote = text[start];
  let key = "";
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text[index];
    if (character === quote) return { key, end: index + 1 };
    if (character === "\\") {
      index += 1;
      if (!isQuote(text[index]) && text[index] !== "\\")
        throw new PathMistake("a backslash must precede a quote or a backslash", index - 1);
    }
    key += text[index];
  }
  throw new PathMistake("the quote is not closed", start);
}

export function skipSpace(text: string, start: number): number {
  let index = start;
  while (index < text.length && (text[index] ?? "").trim() === "") index += 1;
  return index;
}

/** The character at `index`, as shown in an error. */
export function shownAt(text: string, index: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(index) ?? 0));
}

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? undefined;
}

interface Place {
  /** Line number, from 1, like `column`. */
  readonly line: number;
  readonly column: number;
}

export function placeOf(text: string, index: number): Place {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

export function renderPlace({ line, column }: Place): string {
  return line === 1 ? `column ${column}` : `line ${line}, column ${column}`;
}
