/** Opens the state that a configuration names. Each kind of store is loaded only if it is used. */
import { embeddedStore } from "../config/embedded-store.ts";
import { HostError } from "../contract/index.ts";
import type { StoreCommands, StoreFinding } from "../sdk/store.ts";
import type { Store } from "../state/index.ts";
import type { StateOptions } from "./options.ts";
import { isEmbedded } from "./place.ts";

export async function openState(options: StateOptions): Promise<Store> {
  const { place, now, owner, slowFlushMs, writerThread, acceptNewState } = options;
  if (isEmbedded(place)) {
    const { openSqliteStore } = await import("../state/sqlite/index.ts");
    return await openSqliteStore({
      ...{ directory: place.directory, now, owner, isAlone: true },
      ...(slowFlushMs === undefined ? {} : { slowFlushMs }),
      ...(writerThread === undefined ? {} : { writerThread }),
      ...(acceptNewState === undefined ? {} : { acceptNewState }),
    });
  }
  if (acceptNewState !== undefined) {
    const reason =
      `--accept-new-state is for the store ${embeddedStore}, and state.store is ` + `${place.store}: start without it`;
    throw new HostError("usage", { reason });
  }
  const { openPluginStore } = await import("./plugin-store.ts");
  return await openPluginStore(options);
}

/** What a store's own check finds. The embedded store has none: its database is examined whenever it is opened. */
export async function checkStore(options: StateOptions): Promise<readonly StoreFinding[]> {
  if (isEmbedded(options.place)) return [];
  const { checkPluginStore } = await import("./plugin-store.ts");
  return await checkPluginStore(options);
}

/** How the database of a plugin's store is copied; `undefined` for the embedded one, and if the store does not say. */
export async function backupHelp(options: StateOptions): Promise<StoreCommands | undefined> {
  if (isEmbedded(options.place)) return undefined;
  const { pluginStoreCommands } = await import("./plugin-store.ts");
  return await pluginStoreCommands(options);
}
