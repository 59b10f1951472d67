/** What a plugin in a worker asks of its host: the log, the store, and what it submits. */
import { isDeepStrictEqual } from "node:util";
import type { Address, Json, RawEvent } from "../../contract/index.ts";
import type { PluginHost, PluginLog, PluginStore } from "../../sdk/contract.ts";
import type { Handlers } from "../peer.ts";

/** An account's own log and store, or those of the plugin. */
export type OwnerOf = (owner: number | null) => { readonly log: PluginLog; readonly store: PluginStore };

type StoreCall = readonly [owner: number | null, name: keyof PluginStore | "swap", ...args: readonly unknown[]];

/** `undefined` if another writer was faster. */
async function swap(
  store: PluginStore,
  [key, before, after, options]: readonly [string, Json | null, Json | null, Parameters<PluginStore["update"]>[2]],
): Promise<{ readonly value: Json | null } | undefined> {
  let swapped = false;
  const change = (value: Json | null) => {
    swapped = isDeepStrictEqual(value, before);
    return swapped ? after : undefined;
  };
  const value = await store.update(key, change, options);
  return swapped ? { value } : undefined;
}

export function hostHandlers({
  host,
  ownerOf,
}: {
  readonly host: () => PluginHost;
  readonly ownerOf: OwnerOf;
}): Handlers {
  return {
    log([owner, level, fields, message]: readonly [number | null, keyof PluginLog, object, string]) {
      ownerOf(owner).log[level](fields, message);
    },
    store([owner, name, ...args]: StoreCall) {
      const { store } = ownerOf(owner);
      if (name === "swap") return swap(store, args as never);
      return (store[name] as (...given: readonly unknown[]) => unknown)(...args);
    },
    "host.takeDuty": ([name]: readonly [string]) => host().takeDuty(name),
    "host.timezone": () => host().timezone(),
    "host.sharesStore": () => host().sharesStore(),
    "host.receive": ([event]: readonly [RawEvent]) => host().receive(event),
    "host.notify": ([address, text, options]: readonly [Address, string, never]) =>
      host().notify(address, text, options),
    "host.notifyOwner": ([text, options]: readonly [string, never]) => host().notifyOwner(text, options),
    "host.hook": ([path, payload, options]: readonly [string, Json, never]) => host().hook(path, payload, options),
    "host.hookResult": ([eventId]: readonly [string]) => host().hookResult(eventId),
  };
}
