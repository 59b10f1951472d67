/** Which keys `/config` may write from a chat: those that the schema marks, in the section of that chat's account. Nothing else. */

import { isRecord } from "../checking/validate.ts";
import { getPath, renderPath, type Segment } from "../path.ts";
import { alternatives, childSchema } from "../plugin-schemas.ts";
import type { SchemaNode } from "../schema-node.ts";

/** The chat that wants to write. */
export interface ChatPlace {
  readonly channel: string;
  readonly account: string;
}

/**
 * The path of the first key that the chat may not write; `undefined` when it may write all of them. An object is written with all that
 * it holds, and replaces all that `config` holds there.
 */
export function notChatWritable(
  schema: SchemaNode,
  change: { readonly path: readonly Segment[]; readonly value?: unknown; readonly config: unknown; readonly place: ChatPlace },
): string | undefined {
  const { path, value, config, place } = change;
  return find(schema, path, [value, getPath(config, path)], place);
}

function find(schema: SchemaNode, path: readonly Segment[], values: readonly unknown[], place: ChatPlace): string | undefined {
  if (isElsewhere(path, place)) return renderPath(path);
  if (isMarked(schema, path)) return undefined;
  const present = values.filter((value) => value !== undefined);
  // Of an object without a mark each key has to have one; of anything else there is nothing left to look at.
  if (present.length === 0 || !present.every(isRecord)) return renderPath(path);
  const keys = [...new Set(present.flatMap((value) => Object.keys(value as object)))];
  if (keys.length === 0) return renderPath(path);
  for (const key of keys) {
    const inner = present.map((value) => (Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined));
    const found = find(schema, [...path, key], inner, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isMarked(schema: SchemaNode, path: readonly Segment[]): boolean {
  let candidates: readonly SchemaNode[] = [schema];
  for (const segment of path) {
    candidates = candidates.flatMap(alternatives).flatMap((parent) => childSchema(parent, segment) ?? []);
    if (candidates.length === 0) return false;
    if (candidates.every((candidate) => candidate.chatWritable === true)) return true;
  }
  return false;
}

/** A chat writes into its own channel and account only. */
function isElsewhere([section, channel, accounts, account]: readonly Segment[], place: ChatPlace): boolean {
  if (section !== "channels" || channel === undefined) return false;
  return channel !== place.channel || (accounts === "accounts" && account !== undefined && account !== place.account);
}
