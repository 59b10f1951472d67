/**
 * The part of a configuration file that all nodes of a store share. What names the store, the node and its address
 * differs between nodes and stays in the file of each.
 */
import { findNodeAtLocation, parse, parseTree } from "jsonc-parser";
import { isRecord } from "../checking/validate.ts";
import { editText } from "./edit-text.ts";

const localPaths: readonly (readonly string[])[] = [
  ["state"],
  ["gateway", "node"],
  ["gateway", "host"],
  ["gateway", "port"],
];
const placeholder = "\u0000value of this node";
const byteOrderMark = "\ufeff";

/** The text without the settings of its node. Comments stay. */
export function sharedText(text: string): string {
  return localPaths.reduce((rest, path) => editText(rest, path, undefined), text.replace(byteOrderMark, ""));
}

/** Whether a text has nothing but the settings of its node, as that of a new node may. */
export function hasLocalSettingsOnly(text: string): boolean {
  const sections: unknown = parse(sharedText(text), [], { allowTrailingComma: true, allowEmptyContent: true });
  return (
    !isRecord(sections) ||
    Object.values(sections).every((section) => isRecord(section) && Object.keys(section).length === 0)
  );
}

/** A shared text with the settings of the node that `text` is the file of. Comments in both stay. */
export function withLocalSettings(shared: string, text: string): string {
  const root = parseTree(text.replace(byteOrderMark, ""), [], { allowTrailingComma: true });
  return localPaths.reduce((whole, path) => {
    const node = root && findNodeAtLocation(root, [...path]);
    if (node === undefined) return whole;
    const written = text.replace(byteOrderMark, "").slice(node.offset, node.offset + node.length);
    // The value is inserted as it is written, because rendering it would lose its comments.
    return editText(whole, path, placeholder).replace(JSON.stringify(placeholder), () => written);
  }, shared);
}
