/** One part of a configuration as text, such as a mapping: edited with its comments, and put back in its place. */
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import { HostError } from "../../contract/index.ts";
import { renderPath, type Segment } from "../path.ts";
import { parseDocument } from "../reading/document.ts";
import { editText } from "./edit-text.ts";

const placeholder = "\u0000a part of the configuration";

interface Part {
  readonly offset: number;
  readonly length: number;
  /** What all lines but the first begin with; empty if they do not begin alike. */
  readonly indent: string;
}

function partAt(text: string, path: readonly Segment[]): Part | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, [...path]);
  if (node === undefined) return undefined;
  const { offset, length } = node;
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
  const [, ...lines] = text.slice(offset, offset + length).split("\n");
  const isAlike = lines.every(
    (line) => line === "" || line === "\r" || (line.startsWith(indent) && line.trim() !== ""),
  );
  return { offset, length, indent: isAlike ? indent : "" };
}

const withIndent = (text: string, indent: string): string =>
  text
    .split("\n")
    .map((line, index) => (index === 0 || line === "" || line === "\r" ? line : indent + line))
    .join("\n");

/** The text at a path, without the indentation that it has because of its place; `undefined` if there is none. */
export function partText(text: string, path: readonly Segment[]): string | undefined {
  const part = partAt(text, path);
  if (part === undefined) return undefined;
  const { offset, length, indent } = part;
  const written = text.slice(offset, offset + length);
  return indent === "" ? written : written.replaceAll(`\n${indent}`, "\n");
}

/**
 * Puts an edited part in its place; a path that does not exist is added. Everything else stays byte for byte. Throws
 * `config_syntax` with the line inside the part if it is not one object.
 */
export function withPart(text: string, path: readonly Segment[], edited: string): string {
  const trimmed = edited.trim();
  const name = renderPath(path);
  const { isEmpty } = parseDocument(trimmed, name);
  if (isEmpty)
    throw new HostError("config_invalid", {
      path: name,
      reason: "there is no object in the text",
      fix: "Write one in braces.",
    });
  const part = partAt(text, path);
  if (part !== undefined)
    return text.slice(0, part.offset) + withIndent(trimmed, part.indent) + text.slice(part.offset + part.length);
  const added = editText(text, path, placeholder);
  const at = added.indexOf(JSON.stringify(placeholder));
  const start = added.lastIndexOf("\n", at - 1) + 1;
  const indent = /^[ \t]*/.exec(added.slice(start, at))?.[0] ?? "";
  return added.replace(JSON.stringify(placeholder), () => withIndent(trimmed, indent));
}
