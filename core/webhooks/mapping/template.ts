/**
 * Templates of mappings: `{{ commits[0].message }}`, `{{ headers.x-github-event }}`.
 *
 * A template is taken apart once; rendering joins its texts with what the delivery has. What was inserted is never
 * looked at again, so a payload cannot bring expressions of its own.
 */
import type { Json } from "../../contract/index.ts";
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
  /** Whether it renders the same for every delivery. */
  readonly isStatic: boolean;
  /**
   * What it reads, each once, in one spelling: `path`, `now`, `headers.x-github-event`, `query.a`, `payload`,
   * `payload.a.b[0]`. Each is an expression again.
   */
  readonly reads: readonly string[];
  render(delivery: HookDelivery): string;
}

export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** From 1, in its line. */
  readonly column: number;

  /** `message`: without a full stop, as a `Problem` of the configuration takes it. */
  constructor(mistake: PathMistake, text: string) {
    const place = placeOf(text, mistake.index);
    super(`${mistake.message}, at ${renderPlace(place)}`);
    this.column = place.column;
  }
}

interface Expression {
  readonly reads: string;
  readonly read: (delivery: HookDelivery) => Json | undefined;
}

/** Text that stands as it is, or something to be read. */
type Part = string | Expression;

/** Throws `TemplateError` for an expression that is not closed, is empty, or is not a path. */
export function compileTemplate(text: string): Template {
  const parts = parse(text);
  const expressions = parts.filter((part) => typeof part !== "string");
  return {
    source: text,
    isStatic: expressions.length === 0,
    reads: [...new Set(expressions.map(({ reads }) => reads))],
    render(delivery) {
      let rendered = "";
      for (const part of parts) rendered += typeof part === "string" ? part : renderValue(part.read(delivery));
      return rendered;
    },
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
  if (!text.includes("}}", open + 2)) throw unclosed(open);
  const start = skipSpace(text, open + 2);
  if (text.startsWith("}}", start)) throw new PathMistake("{{ }} names nothing", open);
  const { part, end } = parseBody(text, start);
  const close = skipSpace(text, end);
  if (close === text.length) throw unclosed(open);
  if (!text.startsWith("}}", close)) throw new PathMistake(`${shownAt(text, close)} stands where "}}" should; ${namesInQuotes}`, close);
  return { part, end: close + 2 };
}

function unclosed(open: number): PathMistake {
  return new PathMistake('"{{" is never closed with "}}"', open);
}

const flat = /(headers|query)(?=[.[])/y;
// What header names are made of, and brackets, which names in a query have.
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

/** Headers and queries have no depth: everything behind the first dot is the name, dots included. */
function parseFlat(text: string, start: number, group: "headers" | "query"): { readonly part: Part; readonly end: number } {
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
  // A dot too many is a slip of the pen; read as a name, it would render empty without a word.
  if (name.split(".").includes("")) throw new PathMistake("a name is missing", name === "" ? start + 1 : end);
  return { name, end };
}

function bracketName(text: string, start: number): { readonly name: string; readonly end: number } {
  const { keys, end } = scanPath(text, start);
  if (keys.length > 1) throw new PathMistake("headers and queries have no parts inside", start);
  return { name: keys[0] ?? "", end };
}

/** `path`, `now` and `payload` are reserved; with more behind them, the first two are names in the payload. */
function pathExpression(keys: readonly string[]): Expression {
  const [first] = keys;
  if (keys.length === 1 && first === "path") return { reads: "path", read: ({ path }) => path };
  if (keys.length === 1 && first === "now") return { reads: "now", read: ({ now }) => now };
  const inner = first === "payload" ? keys.slice(1) : keys;
  const read = readerOf(inner);
  return { reads: renderPayloadPath(["payload", ...inner]), read: ({ payload }) => read(payload) };
}
