/** A store of the main thread, as a plugin in a worker sees it. */
import type { Json } from "../../contract/index.ts";
import { storableKey } from "../../host/storable.ts";
import type { PluginStore } from "../../sdk/contract.ts";
import type { Peer } from "../peer.ts";

/** `owner`: the number of an account's connection, or `null` for the plugin's own store. */
export function createThreadStore({ ask }: Peer, owner: number | null): PluginStore {
  const call = <T>(name: string, ...args: readonly unknown[]): Promise<T> => ask<T>("store", [owner, name, ...args]);
  return {
    get: (key) => call("get", key),
    // Checked here: a promise does not cross to the main thread, and the error would not say so.
    set: async (key, value, options) => await call("set", storableKey("set", key, value), value, options),
    delete: (key) => call("delete", key),
    list: (options) => call("list", options),
    async update(key, change, options) {
      for (;;) {
        const before = await call<Json | null>("get", key);
        const after = change(structuredClone(before));
        if (after === undefined) return before;
        storableKey("update", key, after);
        const swapped = await call<{ readonly value: Json | null } | undefined>("swap", key, before, after, options);
        if (swapped !== undefined) return swapped.value;
      }
    },
  };
}
