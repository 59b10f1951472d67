/** What the main thread and the thread of a plugin say to each other beside calls. */
import type { PluginSource } from "../host/index.ts";
import type { ChannelConnection, ChannelRoute } from "../sdk/contract.ts";
import type { CallMemory } from "./current-call.ts";
import type { PackedError } from "./packed-error.ts";

/** How a thread loads its plugin. */
export interface ThreadSettings {
  readonly source: PluginSource;
  /** Where transpiled modules are cached. */
  readonly cacheDirectory: string;
}

/** What a thread receives when it starts. */
export interface ThreadData extends ThreadSettings {
  readonly callMemory: CallMemory;
}

/** What changes while a plugin runs and its functions read at once. Sent at every heartbeat. */
export interface Facts {
  readonly trustedProxies: readonly string[];
  /** By number of the connection. */
  readonly accounts: Readonly<Record<number, AccountFacts>>;
}

export interface AccountFacts {
  readonly debounceMs: number;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
}

/** What the configuration says of the plugin, as the thread hands it to the plugin at once. */
export interface OwnFacts {
  /** Absent if the plugin declares no section. */
  readonly section?: SectionFacts;
  /** By the ids of the presets that the plugin declares. */
  readonly presets: Readonly<Record<string, SettingsFacts>>;
}

export interface SectionFacts extends SettingsFacts {
  /** By the ids of the agents. */
  readonly agents: Readonly<Record<string, readonly { readonly path: string; readonly settings: unknown }[]>>;
  readonly names: { readonly agents: readonly string[]; readonly channels: readonly string[] };
}

export interface SettingsFacts {
  /** `undefined` where the plugin is to have none. */
  readonly settings: unknown;
  /** Each secret of the settings as the file has it, and what it is. */
  readonly secrets: readonly (readonly [
    written: unknown,
    resolved: { readonly text: string } | { readonly error: PackedError },
  ])[];
}

/** The answer to a heartbeat. */
export interface Pulse {
  /** Bytes outside the heap that the thread's limit does not include. */
  readonly externalBytes: number;
  /** What `status` reports, in the order of registration. */
  readonly watched: readonly unknown[];
}

/** What a thread needs to open an account. */
export interface OpeningAccount {
  readonly number: number;
  readonly channel: string;
  readonly id: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly directory: string;
  readonly facts: AccountFacts;
}

/** An address of an account, whose functions are asked in the worker. */
export interface RouteData extends Omit<ChannelRoute, "handler" | "refuse"> {
  readonly refuses: boolean;
}

/** The functions of a connection that a channel may leave out. */
export const optionalFunctions = [
  "standBy",
  "admit",
  "pause",
  "update",
  "remove",
  "preview",
  "react",
  "typing",
  "menu",
  "findMedia",
  "resolve",
  "reaches",
  "probe",
  "members",
  "fetchMedia",
] as const satisfies readonly (keyof ChannelConnection)[];

/** Functions whose argument at this place is a signal, which crosses beside the arguments. */
export const signalPlaces: Readonly<Record<string, number>> = { send: 2, admit: 2, remove: 2, react: 3 };
