/** What the plugins of one gateway have registered. It lasts as long as the gateway. */
import { PluginError } from "../contract/index.ts";
import type {
  ChannelDefinition,
  CheckDefinition,
  CommandDefinition,
  EngineDefinition,
  PluginDefinition,
  PluginHost,
  PresetDefinition,
  RouteDefinition,
} from "../sdk/contract.ts";

export interface Owned<T> {
  readonly plugin: string;
  readonly definition: T;
}

export type DeviceCheck = (token: string) => boolean | Promise<boolean>;

export type WatchReport = Parameters<PluginHost["status"]>[0];

export interface Registry {
  /** Every declared plugin that is not disabled, including failed ones: their schemas still describe their sections. */
  readonly plugins: Map<string, PluginDefinition>;
  readonly channels: Map<string, Owned<ChannelDefinition>>;
  readonly engines: Map<string, Owned<EngineDefinition>>;
  readonly presets: Map<string, Owned<PresetDefinition>>;
  readonly commands: Owned<CommandDefinition>[];
  readonly routes: Owned<RouteDefinition>[];
  /** Checks that vouch for device tokens. */
  readonly devices: Owned<DeviceCheck>[];
  readonly checks: Owned<CheckDefinition>[];
  readonly watched: Owned<WatchReport>[];
  /** Called when the configuration was edited. */
  readonly changes: Owned<() => void>[];
  readonly ready: Owned<() => void | Promise<void>>[];
  readonly close: Owned<() => void | Promise<void>>[];
}

export function createRegistry(): Registry {
  const lists = { commands: [], routes: [], devices: [], checks: [], watched: [], changes: [], ready: [], close: [] };
  return { plugins: new Map(), channels: new Map(), engines: new Map(), presets: new Map(), ...lists };
}

/** The engines, each with its plugin. */
export function enginesOf({ engines }: Pick<Registry, "engines">): {
  get(id: string): EngineDefinition | undefined;
  plugin(id: string): string | undefined;
  ids(): readonly string[];
} {
  return {
    get: (id) => engines.get(id)?.definition,
    plugin: (id) => engines.get(id)?.plugin,
    ids: () => [...engines.keys()],
  };
}

export function addUnique<T extends { readonly id: string }>(
  map: Map<string, Owned<T>>,
  kind: string,
  plugin: string,
  definition: T,
): void {
  const taken = map.get(definition.id);
  if (taken !== undefined)
    throw new PluginError("plugin_invalid", { plugin, reason: `the ${kind} ${definition.id} is already provided by ${taken.plugin}` });
  map.set(definition.id, { plugin, definition });
}

/** Removes what a plugin registered before it failed. */
export function removePlugin(registry: Registry, plugin: string): void {
  for (const map of [registry.channels, registry.engines, registry.presets]) {
    for (const [id, owned] of map) if (owned.plugin === plugin) map.delete(id);
  }
  for (const list of [
    registry.commands,
    registry.routes,
    registry.devices,
    registry.checks,
    registry.watched,
    registry.changes,
    registry.ready,
  ]) {
    const kept = (list as Owned<unknown>[]).filter((owned) => owned.plugin !== plugin);
    (list as Owned<unknown>[]).splice(0, list.length, ...kept);
  }
}
