/**
 * Changes one value in a JSONC text and preserves comments. jsonc-parser's `modify` loses comments next to a removed
 * key and moves those after the last one, so this file derives the edits from the parser's syntax tree and scanner.
 */
import { applyEdits, createScanner, type Edit, type Node, parseTree } from "jsonc-parser";
import { isRecord } from "../checking/validate.ts";
import type { Segment } from "../path.ts";

/** Token kinds of jsonc-parser's scanner, whose `const enum` cannot be imported. */
const token = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, end: 17 } as const;

interface Layout {
  readonly unit: string;
  readonly eol: string;
}

/**
 * Sets the value at `path`, or removes it if `value` is `undefined`. Throws if a parent in the path is neither an
 * object nor a list.
 */
export function editText(text: string, path: readonly Segment[], value: unknown): string {
  const layout = layoutOf(text);
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  if (!root) {
    if (value === undefined) return text;
    const before = text === "" || text.endsWith("\n") ? text : text + layout.eol;
    return `${before}${renderValue(nest(path, value), "", layout)}${layout.eol}`;
  }
  let node = root;
  for (const [depth, segment] of path.entries()) {
    const child = childOf(node, segment);
    const last = depth === path.length - 1;
    if (child && last && value === undefined) return removeChild(text, node, child.index);
    if (!child)
      return value === undefined ? text : insertChild(text, node, segment, nest(path.slice(depth + 1), value), layout);
    node = child.value;
  }
  return replaceValue(text, path, node, value, layout);
}

/** Renames the key at `path`. If a key occurs twice, only the last one, which takes effect, is renamed. */
export function renameKey(text: string, path: readonly Segment[], name: string): string {
  let node = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  for (const segment of path.slice(0, -1)) node = node && childOf(node, segment)?.value;
  const child = node && childOf(node, path.at(-1) ?? "");
  const key = child && node?.children?.[child.index]?.children?.[0];
  return key ? applyEdits(text, [{ offset: key.offset, length: key.length, content: JSON.stringify(name) }]) : text;
}

function nest(path: readonly Segment[], value: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, segment) => (typeof segment === "number" ? [inner] : { [segment]: inner }),
    value,
  );
}

function layoutOf(text: string): Layout {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return { unit: indent.startsWith("\t") ? "\t" : indent.slice(0, 8), eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

interface Child {
  readonly index: number;
  readonly value: Node;
}

function childOf(node: Node, segment: Segment): Child | undefined {
  const children = node.children ?? [];
  if (node.type === "array") {
    const value = children[Number(segment)];
    return value && { index: Number(segment), value };
  }
  if (node.type !== "object") throw new Error("a value in the path is neither an object nor a list");
  const index = children.findLastIndex((property) => property.children?.[0]?.value === String(segment));
  const value = children[index]?.children?.[1];
  return value && { index, value };
}

// Values are replaced key by key and element by element, so that comments inside an object or list survive.
function replaceValue(text: string, path: readonly Segment[], node: Node, value: unknown, layout: Layout): string {
  if (node.type === "object" && isRecord(value)) return replaceObject(text, path, node, value);
  if (node.type === "array" && Array.isArray(value)) return replaceArray(text, path, node, value);
  const content = renderValue(value, indentAt(text, node.offset), layout);
  return applyEdits(text, [{ offset: node.offset, length: node.length, content }]);
}

function replaceObject(
  text: string,
  path: readonly Segment[],
  node: Node,
  value: Readonly<Record<string, unknown>>,
): string {
  const old = (node.children ?? []).map((property) => String(property.children?.[0]?.value));
  let edited = text;
  for (const key of old) if (!Object.hasOwn(value, key)) edited = editText(edited, [...path, key], undefined);
  for (const [key, inner] of Object.entries(value)) edited = editText(edited, [...path, key], inner);
  return edited;
}

function replaceArray(text: string, path: readonly Segment[], node: Node, value: readonly unknown[]): string {
  const old = (node.children ?? []).map((child) => text.slice(child.offset, child.offset + child.length));
  const next = value.map((item) => JSON.stringify(item));
  let start = 0;
  while (start < Math.min(old.length, next.length) && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, next.length) - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  let edited = text;
  const replaced = Math.min(old.length, next.length) - start - end;
  for (let index = 0; index < replaced; index += 1)
    edited = editText(edited, [...path, start + index], value[start + index]);
  for (let index = old.length - end - 1; index >= start + replaced; index -= 1)
    edited = editText(edited, [...path, index], undefined);
  for (let index = start + replaced; index < next.length - end; index += 1)
    edited = insertAt(edited, path, index, value[index]);
  return edited;
}

/** Inserts a value into a list, before the element at the index. */
function insertAt(text: string, path: readonly Segment[], index: number, value: unknown): string {
  const layout = layoutOf(text);
  let list = parseTree(text, [], { allowTrailingComma: true });
  for (const segment of path) list = list && childOf(list, segment)?.value;
  const before = list?.children?.[index];
  if (!list || !before) return editText(text, [...path, index], value);
  const indent = indentAt(text, before.offset);
  const ownLine = text.slice(lineStart(text, before.offset), before.offset).trim() === "";
  const content = `${renderValue(value, indent, layout)},${ownLine ? `${layout.eol}${indent}` : " "}`;
  return applyEdits(text, [{ offset: before.offset, length: 0, content }]);
}

function insertChild(text: string, parent: Node, segment: Segment, value: unknown, layout: Layout): string {
  if (parent.type === "array" && Number(segment) !== (parent.children?.length ?? 0))
    throw new Error("a list can only be extended by its next element");
  if (parent.type === "array" && !/^[0-9]+$/.test(String(segment))) throw new Error("a list has no keys");
  const key = parent.type === "array" ? "" : `${JSON.stringify(String(segment))}: `;
  const last = parent.children?.at(-1);
  const close = parent.offset + parent.length - 1;
  const inline = !/[\r\n]/.test(text.slice(parent.offset, close));
  const outer = indentAt(text, parent.offset);
  if (!last) {
    const indent = outer + layout.unit;
    const from = endOfComments(text, parent.offset + 1, close);
    const content = `${layout.eol}${indent}${key}${renderValue(value, indent, layout)}${layout.eol}${outer}`;
    return applyEdits(text, [{ offset: from, length: close - from, content }]);
  }
  const first = parent.children?.[0] ?? last;
  const indent = inline ? outer : startsLine(text, first.offset) ? indentAt(text, first.offset) : outer + layout.unit;
  const lastEnd = last.offset + last.length;
  const comma = nextToken(text, lastEnd, token.comma);
  const at = endOfLineComments(text, comma === undefined ? lastEnd : comma + 1, close);
  const before = inline ? " " : layout.eol + indent;
  const after = comma === undefined ? "" : ",";
  const content = `${before}${key}${renderValue(value, indent, layout)}${after}`;
  const edits: Edit[] = comma === undefined ? [{ offset: lastEnd, length: 0, content: "," }] : [];
  // The comma must come first, because both edits have the same offset.
  if (at === lastEnd && comma === undefined)
    return applyEdits(text, [{ offset: at, length: 0, content: `,${content}` }]);
  return applyEdits(text, [...edits, { offset: at, length: 0, content }]);
}

function removeChild(text: string, parent: Node, index: number): string {
  const children = parent.children ?? [];
  const child = children[index];
  if (!child) return text;
  const end = child.offset + child.length;
  const previous = children[index - 1];
  const behind = nextToken(text, end, token.comma);
  const before =
    behind === undefined && previous ? nextToken(text, previous.offset + previous.length, token.comma) : undefined;
  const edits: Edit[] = [];
  if (before !== undefined) edits.push({ offset: before, length: 1, content: "" });
  // If a comment separates the value from its comma, the two are removed separately.
  const apart = behind !== undefined && text.slice(end, behind).trim() !== "";
  if (behind !== undefined && apart) edits.push({ offset: behind, length: 1, content: "" });
  edits.push({
    ...withBlanks(text, child.offset, behind === undefined || apart ? end : behind + 1, previous === undefined),
    content: "",
  });
  return applyEdits(text, edits);
}

/** The range to remove: the whole line if nothing else is on it, else the blanks on one side. */
function withBlanks(
  text: string,
  from: number,
  to: number,
  first: boolean,
): { readonly offset: number; readonly length: number } {
  const start = lineStart(text, from);
  const rest = /^[ \t]*(\r\n|\r|\n)?/.exec(text.slice(to));
  if (text.slice(start, from).trim() === "" && rest?.[1] !== undefined)
    return { offset: start, length: to + rest[0].length - start };
  const blanksBehind = /^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
  const closes = /[}\]]/.test(text[to + blanksBehind] ?? "");
  if (!closes || first) return { offset: from, length: to - from + (closes ? 0 : blanksBehind) };
  const blanksBefore = /[ \t]*$/.exec(text.slice(start, from))?.[0].length ?? 0;
  return { offset: from - blanksBefore, length: to - from + blanksBefore };
}

/** Offset of the next token if it has this kind. Skips comments and blanks. */
function nextToken(text: string, from: number, kind: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  return scanner.scan() === kind ? scanner.getTokenOffset() : undefined;
}

function endOfComments(text: string, from: number, to: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let end = from;
  for (let kind = scanner.scan(); kind !== token.end && scanner.getTokenOffset() < to; kind = scanner.scan()) {
    if (kind === token.lineComment || kind === token.blockComment) end = scanner.getPosition();
  }
  return end;
}

/** The offset after the comments that belong to the line of `from`. */
function endOfLineComments(text: string, from: number, to: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let end = from;
  for (
    let kind = scanner.scan();
    kind !== token.lineBreak && kind !== token.end && scanner.getTokenOffset() < to;
    kind = scanner.scan()
  ) {
    if (kind === token.lineComment || kind === token.blockComment) end = scanner.getPosition();
  }
  return end;
}

const lineStart = (text: string, offset: number) =>
  Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;

const indentAt = (text: string, offset: number) => /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";

const startsLine = (text: string, offset: number) => text.slice(lineStart(text, offset), offset).trim() === "";

/** Renders a value. Short lists of plain values stay on one line, as people write them. */
function renderValue(value: unknown, indent: string, layout: Layout): string {
  const inner = indent + layout.unit;
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    if (value.every((item) => typeof item !== "object" || item === null) && line.length <= 100) return line;
    return block(
      "[",
      value.map((item) => renderValue(item, inner, layout)),
      "]",
      indent,
      layout,
    );
  }
  if (!isRecord(value)) return JSON.stringify(value);
  return block(
    "{",
    Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${renderValue(item, inner, layout)}`),
    "}",
    indent,
    layout,
  );
}

function block(open: string, items: readonly string[], close: string, indent: string, { unit, eol }: Layout): string {
  if (items.length === 0) return `${open}${close}`;
  return `${open}${eol}${items.map((item) => indent + unit + item).join(`,${eol}`)}${eol}${indent}${close}`;
}
