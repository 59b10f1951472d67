/**
 * Where an error was thrown. The engine knows the places of calls and of `throw`. For errors of other expressions, such
 * as reading a property of `undefined`, it reports the last call before them, or the beginning of the file.
 */
import { codeOnly } from "../modules/code-only.ts";

/** Errors of expressions, each with the name that the expression contains, if it does. */
const ofExpressions: readonly RegExp[] = [
  /^TypeError: cannot (?:read|set) property '(?<property>.*)' of (?:undefined|null)$/s,
  /^ReferenceError: (?<variable>.+) is not defined$/s,
  /^(?:TypeError|SyntaxError): '(?<variable>.+)' is read-only$/s,
  /^ReferenceError: (?<variable>.+) is not initialized$/s,
  /^TypeError: Cannot convert undefined or null to object$/,
  /^TypeError: (?:cannot convert|cannot mix) .*$/s,
  /^TypeError: invalid '(?:in|instanceof)' .*$/s,
];
/** The first frame, if it is of a file of the user: `    at default (/a.ts:1:1)`. */
const ownFrame = /^\s*at (?:(?<name>.*) \()?(?<file>\/[^\n]*?):\d+(?::\d+)?\)?(?=\n|$)/;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Longer files are not searched, because the search takes time of the call. */
const maxSource = 262_144;
/** More lines than this say nothing. */
const maxLines = 3;
const maxKnown = 100;

interface Name {
  readonly property?: string;
  readonly variable?: string;
}

/**
 * Lines, from 1, whose code has the name as a property or as a variable. `code` is the source without comments and
 * texts.
 */
function linesWith(source: string, code: string, { property, variable }: Name): readonly number[] {
  const given = property ?? variable ?? "";
  const name = escaped(given);
  const isName = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(given);
  const end = "(?![\\p{ID_Continue}$])";
  const patterns: (readonly [text: string, pattern: string])[] = [];
  if (variable !== undefined && isName) patterns.push([code, `(?<![\\p{ID_Continue}$.])${name}${end}`]);
  if (property !== undefined) {
    patterns.push([source, `\\[\\s*(["'\`]?)${name}\\1\\s*\\]`]);
    // Within a pattern that takes an object apart, the name stands alone.
    if (isName)
      patterns.push([code, `\\.\\s*${name}${end}`], [code, `[{,]\\s*${name}\\s*(?=[,:=}])(?=[^;{}]*\\}\\s*=[^=>])`]);
  }
  const places = patterns.flatMap(([text, pattern]) =>
    [...text.matchAll(new RegExp(pattern, "gu"))].map(({ index }) => index),
  );
  return [...new Set(places.map((at) => source.slice(0, at).split("\n").length))].sort((one, other) => one - other);
}

/**
 * Corrects the first frame of a stack: it gets the line of the only place that has the name of the error; otherwise it
 * has no line, or says which ones are possible.
 */
export function createErrorPlaces(sourceOf: (file: string) => string): (message: string, stack: string) => string {
  const codes = new Map<string, string>();
  const known = new Map<string, string>();

  function codeOf(file: string, source: string): string {
    const code = codes.get(file) ?? codeOnly(source);
    codes.set(file, code);
    return code;
  }

  function linesIn(file: string, name: Name): readonly number[] {
    const source = sourceOf(file);
    return source.length > maxSource ? [] : linesWith(source, codeOf(file, source), name);
  }

  function correct(message: string, stack: string): string {
    const found = ofExpressions.map((pattern) => pattern.exec(message)).find((match) => match !== null);
    const frame = ownFrame.exec(stack);
    const file = frame?.groups?.file;
    if (found == null || frame === null || file === undefined) return stack;
    const lines = found.groups === undefined ? [] : linesIn(file, found.groups);
    const name = frame.groups?.name;
    const many = lines.length <= maxLines ? `${file}, line ${lines.join(" or ")}` : file;
    const place = lines.length === 1 ? `${file}:${lines[0]}` : lines.length === 0 ? file : many;
    return `    at ${name === undefined ? place : `${name} (${place})`}${stack.slice(frame[0].length)}`;
  }

  return (message, stack) => {
    const key = `${message}\n${stack}`;
    const corrected = known.get(key) ?? correct(message, stack);
    if (known.size < maxKnown) known.set(key, corrected);
    return corrected;
  };
}
