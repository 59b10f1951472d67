/** The codes that plugins registered, kept in the store: `why` explains a decision without loading the plugin that made it. */
import { isDeepStrictEqual } from "node:util";
import type { CodeTable, Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import type { Registry } from "./registry.ts";

const namespace = "host";
const key = "codes";

export type PluginCodes = Readonly<Record<string, CodeTable>>;

/** Written at each start of a gateway, when a plugin's codes are others than before. */
export async function keepPluginCodes(store: Pick<Store, "get" | "set">, { plugins }: Pick<Registry, "plugins">): Promise<void> {
  const codes = Object.fromEntries([...plugins].flatMap(([id, { codes }]) => (codes === undefined ? [] : [[id, codes]])));
  if (!isDeepStrictEqual(await store.get(namespace, key), codes)) await store.set(namespace, key, codes as unknown as Json);
}

export async function readPluginCodes(store: Pick<Store, "get">): Promise<PluginCodes> {
  return ((await store.get(namespace, key)) ?? {}) as unknown as PluginCodes;
}
