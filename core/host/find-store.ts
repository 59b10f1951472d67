/**
 * Finds the plugin of a store by its name: a folder, file or package called `store-<id>`. The store is opened before
 * other plugins are loaded, and no code of theirs runs to find it.
 */
import { embeddedStore, nearestOf } from "../config/index.ts";
import { HostError } from "../contract/index.ts";
import { bundledStores, namedPlugin, type PluginSource } from "./find.ts";

export interface StorePlaces {
  /** `plugins.load`. */
  readonly load: readonly string[];
  readonly configDirectory: string;
}

/**
 * The id of the store that a plugin of this name provides: `./store-files`, `./store-files/index.ts` and
 * `@acme/store-files` provide `files`.
 */
export function storeOf(name: string): string | undefined {
  const path = name.replace(/\/+$/, "").replace(/(?:\/(?:src|dist))?(?:\/index)?\.[cm]?[jt]s$/, "");
  return /(?:^|[/-])store-([a-z][a-z0-9-]{0,63})$/.exec(path)?.[1];
}

/**
 * The plugin of a store. One that the configuration names comes before a bundled one. Throws `store_unknown` or
 * `plugin_not_found`.
 */
export function findStore(id: string, { load, configDirectory }: StorePlaces): PluginSource {
  const named = load.find((name) => storeOf(name) === id);
  if (named !== undefined) return namedPlugin(named, configDirectory);
  const bundled = bundledStores();
  const found = bundled.find(({ name }) => storeOf(name) === id);
  if (found !== undefined) return found;
  const known = [
    embeddedStore,
    ...[...bundled.map(({ name }) => name), ...load].flatMap((name) => storeOf(name) ?? []),
  ];
  const nearest = nearestOf(id, known);
  const meant = nearest === undefined ? "" : `Did you mean ${nearest}? `;
  throw new HostError("store_unknown", { store: id, meant, known: known.join(", ") });
}
