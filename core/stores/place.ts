/** Where the state of a gateway is: the state directory, and the store that the configuration names. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { embeddedStore } from "../config/embedded-store.ts";
import { wasUsed } from "../state/identity.ts";

export interface StatePlace {
  /** The state directory. It contains the lock, the log, tokens and caches even if the database is elsewhere. */
  readonly directory: string;
  /** `state.store`. */
  readonly store: string;
  /** `state.url` as it is in the configuration. */
  readonly url?: unknown;
  /** `gateway.node`. */
  readonly node?: string;
}

const databaseFile = "state.db";

/** Whether the database is a file in the state directory. */
export const isEmbedded = ({ store }: Pick<StatePlace, "store">): boolean => store === embeddedStore;

/** Files of the state directory that must not be replaced while the store is open. */
export const filesOf = (place: StatePlace): readonly string[] => (isEmbedded(place) ? [databaseFile] : []);

/** The log of the database, which holds its newest commits. Absent if the database is elsewhere. */
export const logOf = (place: StatePlace): string | undefined => (isEmbedded(place) ? `${databaseFile}-wal` : undefined);

/**
 * Whether there is a state to open. A directory that contains only a configuration is none, and opening it would create
 * one. A lost state counts as one, because opening it reports the loss.
 */
export function isUsed(place: StatePlace): boolean {
  return !isEmbedded(place) || existsSync(join(place.directory, databaseFile)) || wasUsed(place.directory);
}
