/**
 * Stores the codes that plugins declared, so that `why` explains a decision without loading the plugin that made it.
 */
import { isDeepStrictEqual } from "node:util";
import type { CodeTable, Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import type { Registry } from "./registry.ts";

const namespace = "host";
const key = "codes";

/** Keyed by plugin id. */
export type PluginCodes = ReadonlyMap<string, CodeTable>;

/** Writes the codes at the start of a gateway, if they have changed. */
export async function keepPluginCodes(
  store: Pick<Store, "get" | "set">,
  { plugins }: Pick<Registry, "plugins">,
): Promise<void> {
  const declared = [...plugins].flatMap(([id, { codes }]) => (codes === undefined ? [] : [[id, plainCodes(codes)]]));
  const stored: Json = Object.fromEntries(declared);
  if (!isDeepStrictEqual(await store.get(namespace, key), stored)) await store.set(namespace, key, stored);
}

/** The codes as JSON, without fields that are not part of the contract. */
function plainCodes(codes: CodeTable): Json {
  const plain = Object.entries(codes).map(([code, { meaning, hint, outcome }]) => [
    code,
    { meaning, hint, ...(outcome && { outcome }) },
  ]);
  return Object.fromEntries(plain);
}

export async function readPluginCodes(store: Pick<Store, "get">): Promise<PluginCodes> {
  return new Map(
    Object.entries(((await store.get(namespace, key)) ?? {}) as unknown as Readonly<Record<string, CodeTable>>),
  );
}
