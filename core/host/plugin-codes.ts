/** The codes that plugins registered, kept in the store: `why` explains a decision without loading the plugin that made it. */
import { isDeepStrictEqual } from "node:util";
import type { CodeTable, Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import type { Registry } from "./registry.ts";

const namespace = "host";
const key = "codes";

/** By the plugin's id. */
export type PluginCodes = ReadonlyMap<string, CodeTable>;

/** Written at the start of a gateway, when they are others than before. */
export async function keepPluginCodes(store: Pick<Store, "get" | "set">, { plugins }: Pick<Registry, "plugins">): Promise<void> {
  const declared = [...plugins].flatMap(([id, { codes }]) => (codes === undefined ? [] : [[id, plainCodes(codes)]]));
  const kept: Json = Object.fromEntries(declared);
  if (!isDeepStrictEqual(await store.get(namespace, key), kept)) await store.set(namespace, key, kept);
}

/** As JSON keeps them, without what a plugin may have put beside the contract's fields. */
function plainCodes(codes: CodeTable): Json {
  const plain = Object.entries(codes).map(([code, { meaning, hint, outcome }]) => [code, { meaning, hint, ...(outcome && { outcome }) }]);
  return Object.fromEntries(plain);
}

export async function readPluginCodes(store: Pick<Store, "get">): Promise<PluginCodes> {
  return new Map(Object.entries(((await store.get(namespace, key)) ?? {}) as unknown as Readonly<Record<string, CodeTable>>));
}
