/**
 * Decides which keys `/config` may write from a chat: those marked in the schema, and in `channels` only those of the
 * chat's own account. Entries that admit someone, such as groups, can neither be added nor removed.
 */

import { isRecord } from "../checking/validate.ts";
import { getPath, renderPath, type Segment } from "../path.ts";
import { alternatives, childSchema } from "../plugin-schemas.ts";
import type { SchemaNode } from "../schema-node.ts";

/** The chat from which the change is requested. */
export interface ChatPlace {
  readonly channel: string;
  readonly account: string;
}

/**
 * The path of the first key that the chat may not write; `undefined` if all of them are allowed. Writing an object
 * replaces everything `config` has at that path, so all keys of both are checked.
 */
export function notChatWritable(
  schema: SchemaNode,
  change: {
    readonly path: readonly Segment[];
    readonly value?: unknown;
    readonly config: unknown;
    readonly place: ChatPlace;
  },
): string | undefined {
  const { path, value, config, place } = change;
  for (const [index] of path.entries()) {
    const above = path.slice(0, index);
    if (!admits(schema, above)) continue;
    const entry = path.slice(0, index + 1);
    if (index === path.length - 1 || getPath(config, entry) === undefined) return renderPath(entry);
  }
  return find(schema, path, [value, getPath(config, path)], place);
}

function find(
  schema: SchemaNode,
  path: readonly Segment[],
  values: readonly unknown[],
  place: ChatPlace,
): string | undefined {
  if (isElsewhere(path, place)) return renderPath(path);
  if (isMarked(schema, path)) return undefined;
  if (admits(schema, path)) return renderPath(path);
  const present = values.filter((value) => value !== undefined);
  // In an unmarked object, every key needs a mark of its own. Any other unmarked value is forbidden.
  if (present.length === 0 || !present.every(isRecord)) return renderPath(path);
  const keys = [...new Set(present.flatMap((value) => Object.keys(value as object)))];
  if (keys.length === 0) return renderPath(path);
  for (const key of keys) {
    const inner = present.map((value) =>
      Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined,
    );
    const found = find(schema, [...path, key], inner, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The schemas of the value at a path; empty where the schema does not know it. */
function schemasAt(schema: SchemaNode, path: readonly Segment[]): readonly SchemaNode[] {
  let found: readonly SchemaNode[] = [schema];
  for (const segment of path)
    found = found.flatMap(alternatives).flatMap((parent) => childSchema(parent, segment) ?? []);
  return found;
}

/** Whether the value or one above it is marked. */
function isMarked(schema: SchemaNode, path: readonly Segment[]): boolean {
  return path.some((_, index) => {
    const found = schemasAt(schema, path.slice(0, index + 1));
    return found.length > 0 && found.every((candidate) => candidate.chatWritable === true);
  });
}

const admits = (schema: SchemaNode, path: readonly Segment[]): boolean =>
  schemasAt(schema, path).some((candidate) => candidate.entriesAdmit === true);

/** A chat may only change its own channel and account. */
function isElsewhere([section, channel, accounts, account]: readonly Segment[], place: ChatPlace): boolean {
  if (section !== "channels" || channel === undefined) return false;
  return channel !== place.channel || (accounts === "accounts" && account !== undefined && account !== place.account);
}
