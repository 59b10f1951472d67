/** A store that a plugin provides: loaded before all other plugins, in the gateway's own thread. */
import { HostError, PluginError, reasonOf } from "../contract/index.ts";
import { checkDeclaration, findStore } from "../host/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import type { StoreCommands, StoreDefinition, StoreFinding, StoreOpening } from "../sdk/store.ts";
import { nodeName, type Store } from "../state/index.ts";
import { type DatabaseAddress, databaseAddress } from "./address.ts";
import type { PluginPlaces, StateOptions } from "./options.ts";

type PluginStoreOptions = Pick<StateOptions, "place" | "now" | "owner" | "secrets" | "plugins">;

const checkDatabase =
  "Check that the database runs and can be reached, and that it accepts the user and the password of state.url.";

export async function openPluginStore(options: PluginStoreOptions): Promise<Store> {
  const { place } = options;
  const address = databaseAddress(place, await options.secrets());
  const definition = await loadStore(place.store, await options.plugins());
  try {
    return await definition.open(openingOf(options, address));
  } catch (error) {
    const reason = withoutCapital(address.clean(reasonOf(error)));
    const fix = error instanceof HostError ? error.hint : checkDatabase;
    throw new HostError(
      "store_not_opened",
      { store: place.store, address: address.shown, reason, fix },
      { cause: error },
    );
  }
}

/** Runs the store's own check; without one, there are no findings. */
export async function checkPluginStore(options: PluginStoreOptions): Promise<readonly StoreFinding[]> {
  const { place } = options;
  const address = databaseAddress(place, await options.secrets());
  const definition = await loadStore(place.store, await options.plugins());
  try {
    const findings = (await definition.check?.(openingOf(options, address))) ?? [];
    return findings.map(({ verdict, reason, fix }) => ({
      ...{ verdict, reason: address.clean(reason) },
      ...(fix === undefined ? {} : { fix: address.clean(fix) }),
    }));
  } catch (error) {
    return [{ verdict: "fail", reason: `its check failed: ${address.clean(reasonOf(error))}` }];
  }
}

/** The store's own commands for a copy of its database. The address in them has no password. */
export async function pluginStoreCommands(options: PluginStoreOptions): Promise<StoreCommands | undefined> {
  const { place } = options;
  const address = databaseAddress(place, await options.secrets());
  const definition = await loadStore(place.store, await options.plugins());
  const commands = definition.backupCommands?.(address.url);
  const { password = "" } = URL.parse(address.url) ?? {};
  // Cleaning shortens the address, so it is for a store that shows the password.
  const cleaned = (text: string) => (password !== "" && text.includes(password) ? address.clean(text) : text);
  return commands && { backup: cleaned(commands.backup), restore: cleaned(commands.restore) };
}

function openingOf({ place, now, owner }: PluginStoreOptions, { url }: DatabaseAddress): StoreOpening {
  return { url, now, owner, node: nodeName(place.directory, { configured: place.node, keep: owner }) };
}

async function loadStore(id: string, { loader, given = [], ...places }: PluginPlaces): Promise<StoreDefinition> {
  const handedIn = given.find(({ store }) => store?.id === id);
  if (handedIn !== undefined) return storeOf(id, checkDeclaration(handedIn.id, handedIn));
  const source = findStore(id, places);
  return storeOf(id, checkDeclaration(source.name, await loader.load(source)));
}

function storeOf(id: string, { id: plugin, store }: PluginDefinition): StoreDefinition {
  if (store?.id === id) return store;
  const reason =
    store === undefined
      ? `it declares no store, but its name promises the store ${id}`
      : `its store is ${store.id}, but its name promises ${id}`;
  throw new PluginError("plugin_invalid", { plugin, reason, field: "store" });
}

const withoutCapital = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
