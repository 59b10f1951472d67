/**
 * Templates of mappings: `{{ commits[0].message }}`, `{{ headers.x-github-event }}`, `{{{ summary }}}`.
 *
 * A template is parsed once. Rendering inserts values of the delivery between its texts. Inserted values are never
 * expanded again, so a payload cannot contain expressions of its own. In a text that people read, `{{ }}` shows the
 * value letter by letter, and `{{{ }}}` inserts it as Markdown. In a text for a model both are the same.
 */
import type { Json } from "../../contract/index.ts";
import { compileInsertion } from "../../reply/index.ts";
import { type AbsentName, absentIn } from "./absent-name.ts";
import {
  isQuote,
  namesInQuotes,
  PathMistake,
  placeOf,
  readerOf,
  renderPayloadPath,
  renderPlace,
  scanPath,
  scanQuoted,
  shownAt,
  skipSpace,
} from "./payload-path.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

export interface Template {
  readonly source: string;
  /** Whether the result is the same for every delivery. */
  readonly isStatic: boolean;
  /**
   * The distinct values that the template reads, normalized: `path`, `now`, `headers.x-github-event`, `query.a`,
   * `payload`, `payload.a.b[0]`. Each is itself a valid expression.
   */
  readonly reads: readonly string[];
  /** For a model or a program: values are inserted unchanged. */
  render(delivery: HookDelivery): string;
  /**
   * For people: Markdown that shows each value letter by letter, unless the template says that the value is Markdown.
   */
  renderMarkdown(delivery: HookDelivery): string;
  /**
   * The names that the payload does not have, although it has what contains them, each with the names that are there.
   */
  absent(delivery: HookDelivery): readonly AbsentName[];
}

export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** Column in its line, from 1. */
  readonly column: number;

  /** `message` has no full stop, as in a configuration `Problem`. */
  constructor(mistake: PathMistake, text: string) {
    const place = placeOf(text, mistake.index);
    super(`${mistake.message}, at ${renderPlace(place)}`);
    this.column = place.column;
  }
}

interface Expression {
  readonly reads: string;
  readonly read: (delivery: HookDelivery) => Json | undefined;
  /** The path in the payload; absent for other values. */
  readonly keys?: readonly string[];
  /** Written in triple braces. */
  readonly isMarkdown?: true;
}

/** Literal text, or an expression. */
type Part = string | Expression;

/** Compiles a template. Throws `TemplateError` for an expression that is unclosed, empty or not a path. */
export function compileTemplate(text: string): Template {
  const parts = parse(text);
  const expressions = parts.filter((part) => typeof part !== "string");
  let insert: ReturnType<typeof compileInsertion> | undefined;
  return {
    source: text,
    isStatic: expressions.length === 0,
    reads: [...new Set(expressions.map(({ reads }) => reads))],
    render(delivery) {
      let rendered = "";
      for (const part of parts) rendered += typeof part === "string" ? part : renderValue(part.read(delivery));
      return rendered;
    },
    renderMarkdown(delivery) {
      insert ??= compileInsertion(
        parts.map((part) => (typeof part === "string" ? part : { isMarkdown: part.isMarkdown === true })),
      );
      return insert(expressions.map(({ read }) => renderValue(read(delivery))));
    },
    absent: (delivery) =>
      expressions.flatMap(({ keys, read }) =>
        keys === undefined || read(delivery) !== undefined ? [] : (absentIn(delivery.payload, keys) ?? []),
      ),
  };
}

function renderValue(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function parse(text: string): readonly Part[] {
  const parts: Part[] = [];
  let literal = "";
  let index = 0;
  try {
    for (;;) {
      const open = text.indexOf("{{", index);
      literal += text.slice(index, open === -1 ? text.length : open);
      if (open === -1) break;
      const { part, end } = parseExpression(text, open);
      if (typeof part === "string") literal += part;
      else {
        if (literal !== "") parts.push(literal);
        parts.push(part);
        literal = "";
      }
      index = end;
    }
  } catch (error) {
    throw error instanceof PathMistake ? new TemplateError(error, text) : error;
  }
  return literal === "" ? parts : [...parts, literal];
}

function parseExpression(text: string, open: number): { readonly part: Part; readonly end: number } {
  const isMarkdown = text.startsWith("{{{", open);
  const [opening, closing] = isMarkdown ? ["{{{", "}}}"] : ["{{", "}}"];
  const unclosed = () => new PathMistake(`"${opening}" is never closed with "${closing}"`, open);
  if (!text.includes(closing, open + opening.length)) throw unclosed();
  const start = skipSpace(text, open + opening.length);
  if (text.startsWith(closing, start)) throw new PathMistake(`${opening} ${closing} names nothing`, open);
  const { part, end } = parseBody(text, start);
  const close = skipSpace(text, end);
  if (close === text.length) throw unclosed();
  if (!text.startsWith(closing, close))
    throw new PathMistake(`${shownAt(text, close)} is in the place of "${closing}"; ${namesInQuotes}`, close);
  return { part: isMarkdown && typeof part !== "string" ? { ...part, isMarkdown } : part, end: close + closing.length };
}

const flat = /(headers|query)(?=[.[])/y;
// Characters of header names, and brackets, which query names may contain.
const flatName = /\.([\w!#$%&*+\-.^~:@[\]]+)/y;

function parseBody(text: string, start: number): { readonly part: Part; readonly end: number } {
  if (isQuote(text[start])) {
    const { key, end } = scanQuoted(text, start);
    return { part: key, end };
  }
  flat.lastIndex = start;
  const group = flat.exec(text)?.[1];
  if (group === "headers" || group === "query") return parseFlat(text, start + group.length, group);
  const { keys, end } = scanPath(text, start);
  return { part: pathExpression(keys), end };
}

/** Headers and queries are flat: everything after the first dot is the name, including dots. */
function parseFlat(
  text: string,
  start: number,
  group: "headers" | "query",
): { readonly part: Part; readonly end: number } {
  const { name, end } = text[start] === "[" ? bracketName(text, start) : dottedName(text, start);
  const key = group === "headers" ? name.toLowerCase() : name;
  const read = readerOf([key]);
  return { part: { reads: renderFlat(group, key), read: (delivery) => read(delivery[group]) }, end };
}

function renderFlat(group: string, key: string): string {
  flatName.lastIndex = 0;
  const dotted = `.${key}`;
  return flatName.exec(dotted)?.[0] === dotted ? `${group}${dotted}` : `${group}${renderPayloadPath([key])}`;
}

function dottedName(text: string, start: number): { readonly name: string; readonly end: number } {
  flatName.lastIndex = start;
  const found = flatName.exec(text);
  const name = found?.[1] ?? "";
  const end = start + 1 + name.length;
  // An extra dot is a mistake. Treated as part of the name, it would silently render an empty text.
  if (name.split(".").includes("")) throw new PathMistake("a name is missing", name === "" ? start + 1 : end);
  return { name, end };
}

function bracketName(text: string, start: number): { readonly name: string; readonly end: number } {
  const { keys, end } = scanPath(text, start);
  if (keys.length > 1) throw new PathMistake("headers and query parameters have no nested fields", start);
  return { name: keys[0] ?? "", end };
}

/** Interprets `path`, `now` and `payload`. If more keys follow, `path` and `now` are names in the payload. */
function pathExpression(keys: readonly string[]): Expression {
  const [first] = keys;
  if (keys.length === 1 && first === "path") return { reads: "path", read: ({ path }) => path };
  if (keys.length === 1 && first === "now") return { reads: "now", read: ({ now }) => now };
  const inner = first === "payload" ? keys.slice(1) : keys;
  const read = readerOf(inner);
  return { reads: renderPayloadPath(["payload", ...inner]), read: ({ payload }) => read(payload), keys: inner };
}
