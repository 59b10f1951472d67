/** What opening a state needs. */
import type { Secrets } from "../config/index.ts";
import type { HostError } from "../contract/index.ts";
import type { Loader, StorePlaces } from "../host/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import type { StatePlace } from "./place.ts";

export interface StateOptions {
  readonly place: StatePlace;
  readonly now: () => number;
  /** Whether the caller is the gateway that holds the lock of the state directory. */
  readonly owner: boolean;
  /** Reads the address of the database; called only if there is one. */
  secrets(): Promise<Secrets>;
  /** Where the plugin of a store is found; called only if the store is provided by one. */
  plugins(): Promise<PluginPlaces>;
  /** Delay added to each flush of the embedded store, for tests and benchmarks of slow disks. */
  readonly slowFlushMs?: number;
  /** Whether the embedded store writes in a thread of its own; default: for the owner. */
  readonly writerThread?: boolean;
  /** Accepts a state directory that is lost, damaged or replaced. */
  readonly acceptNewState?: (accepted: HostError, aside: string | undefined) => void;
}

export interface PluginPlaces extends StorePlaces {
  readonly loader: Loader;
  /** Plugins that an embedder passes in. */
  readonly given?: readonly PluginDefinition[];
}
