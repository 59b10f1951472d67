/**
 * Parses a configuration file, which is JSON with comments and trailing commas, and records the position of each value.
 */
import {
  createScanner,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { HostError } from "../../contract/index.ts";
import { forbiddenKeys, getPath, renderPath, type Segment } from "../path.ts";
import type { Problem } from "../problem.ts";

export interface Position {
  /** Line, from 1, like `column`. */
  readonly line: number;
  readonly column: number;
}

export interface ConfigDocument {
  readonly text: string;
  /** Plain JSON with own properties only. */
  readonly value: unknown;
  /** There is no value in the text, so that `value` is an empty object. */
  readonly isEmpty: boolean;
  /** Forbidden and duplicate keys. */
  readonly problems: readonly Problem[];
  /** The position of a value, or of its nearest existing parent. */
  locate(path: readonly Segment[]): Position | undefined;
  /** Whether the file itself contains a value at the path. */
  has(path: readonly Segment[]): boolean;
}

/** Files nested deeper are rejected, because reading them would exhaust the stack. */
const maxDepth = 64;

/** Token kinds of jsonc-parser's scanner, whose `const enum` cannot be imported. */
export const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 } as const;

export const parseOptions = { allowTrailingComma: true, disallowComments: false, allowEmptyContent: true };

const reasons: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not a value; texts need double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "a key in double quotes is missing here",
  ValueExpected: "a value is missing here",
  ColonExpected: "a colon is missing before this",
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: "a closing brace } is missing",
  CloseBracketExpected: "a closing bracket ] is missing",
  EndOfFileExpected: "the file should end here",
  InvalidCommentToken: "this is not a comment; write // or /* */",
  UnexpectedEndOfComment: "a comment is not closed with */",
  UnexpectedEndOfString: "a text is not closed with a double quote",
  UnexpectedEndOfNumber: "a number is incomplete here",
  InvalidUnicode: "\\u needs four hexadecimal digits",
  InvalidEscapeCharacter: 'after a backslash only one of " \\ / b f n r t u may stand',
  InvalidCharacter: "a text contains a control character; write it as an escape",
};

export const reasonFor = (code: ParseErrorCode): string => reasons[printParseErrorCode(code)] ?? "this cannot be read";

/**
 * Parses a file. Throws `config_syntax` with file, line and column. A file that is empty or contains only comments
 * yields an empty object.
 */
export function parseDocument(source: string, file: string): ConfigDocument {
  const text = withoutMark(source);
  const refuse = (offset: number, reason: string): never => {
    throw new HostError("config_syntax", { file, ...positionAt(text, offset), reason });
  };
  const deep = tooDeepAt(text);
  if (deep !== undefined) refuse(deep, `the file is nested more than ${maxDepth} levels deep`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, parseOptions);
  const first = errors[0];
  if (first) refuse(first.offset, reasonFor(first.error));
  if (root && root.type !== "object") refuse(root.offset, "the file must contain one object in braces");
  return documentOf(text, root);
}

/** Replaces the byte order mark with a blank, so that offsets stay the same. */
export const withoutMark = (source: string): string =>
  source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;

export function documentOf(text: string, root: Node | undefined): ConfigDocument {
  const problems: Problem[] = [];
  const value = root ? toValue(root, [], text, problems) : {};
  const has = (path: readonly Segment[]) => getPath(value, path) !== undefined;
  return { text, value, isEmpty: root === undefined, problems, locate: (path) => locate(text, root, path), has };
}

export function tooDeepAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.openBrace || kind === token.openBracket) depth += 1;
    else if (kind === token.closeBrace || kind === token.closeBracket) depth -= 1;
    if (depth > maxDepth) return scanner.getTokenOffset();
  }
  return undefined;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function locate(text: string, root: Node | undefined, path: readonly Segment[]): Position | undefined {
  const node = root && nearestNode(root, path);
  return node && positionAt(text, node.offset);
}

/** The node at a path, or its nearest existing parent. */
export function nearestNode(root: Node, path: readonly Segment[]): Node {
  let node = root;
  for (const segment of path) {
    const next = childAt(node, segment);
    if (!next) break;
    node = next;
  }
  return node;
}

function childAt(node: Node, segment: Segment): Node | undefined {
  if (node.type === "array") return node.children?.[Number(segment)];
  // Of several equal keys, the last one takes effect.
  return node.children?.findLast((property) => property.children?.[0]?.value === String(segment))?.children?.[1];
}

function toValue(node: Node, path: readonly Segment[], text: string, problems: Problem[]): unknown {
  if (node.type === "array")
    return (node.children ?? []).map((child, index) => toValue(child, [...path, index], text, problems));
  if (node.type !== "object") return node.value;
  const object: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [keyNode, valueNode] = property.children ?? [];
    if (!keyNode || !valueNode) continue;
    const key = String(keyNode.value);
    const at = positionAt(text, keyNode.offset);
    if (forbiddenKeys.has(key)) {
      problems.push({
        severity: "warning",
        path: renderPath([...path, key]),
        message: "this key is never used",
        hint: "Remove it.",
        ...at,
      });
      continue;
    }
    if (Object.hasOwn(object, key)) {
      problems.push({
        severity: "warning",
        path: renderPath([...path, key]),
        message: "the key occurs twice; the last one applies",
        ...at,
      });
    }
    object[key] = toValue(valueNode, [...path, key], text, problems);
  }
  return object;
}
