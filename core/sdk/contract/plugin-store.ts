/** The durable data of a plugin. */
import type { Json } from "../../contract/index.ts";

/**
 * Durable key-value data in its own namespace: one for each plugin, one for each channel account. Values are JSON; any
 * text is a valid key. Every call rejects with `HostError` when the state cannot be read or written (`state_full`: the
 * disk is full).
 *
 * @example
 * await host.store.set("greeted:42", true, { ttlSeconds: 86_400 });
 */
export interface PluginStore {
  /** `null` if the key does not exist or has expired. */
  get(key: string): Promise<Json | null>;
  /**
   * Replaces the value. With `ttlSeconds` the key expires after that time; without it, never. The value survives a
   * killed process; with `durable` also a power cut.
   */
  set(key: string, value: Json, options?: { readonly ttlSeconds?: number; readonly durable?: boolean }): Promise<void>;
  /** `false` if the key did not exist. */
  delete(key: string): Promise<boolean>;
  /** Sorted by key. */
  list(options?: {
    readonly prefix?: string;
    readonly limit?: number;
  }): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  /**
   * Changes a value in one atomic step. `change` receives the value (`null` if there is none) and returns the next one;
   * `null` deletes it, `undefined` leaves it unchanged. Resolves with the resulting value. `change` runs again if
   * another writer was faster, so it must be pure.
   *
   * @example
   * await host.store.update("visits", (count) => Number(count ?? 0) + 1);
   */
  update(
    key: string,
    change: (value: Json | null) => Json | null | undefined,
    options?: { readonly ttlSeconds?: number },
  ): Promise<Json | null>;
}
