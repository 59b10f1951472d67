/** What the plugins of one gateway have registered. It lasts as long as the gateway. */
import { PluginError } from "../contract/index.ts";
import type {
  ChannelDefinition,
  CheckDefinition,
  CommandDefinition,
  EngineDefinition,
  PanelDefinition,
  PluginDefinition,
  PluginHost,
  PresetDefinition,
  RouteDefinition,
  ToolDefinition,
  ToolSource,
} from "../sdk/contract.ts";
import { replaced } from "../stations/index.ts";

export interface Owned<T> {
  readonly plugin: string;
  readonly definition: T;
}

export type DeviceCheck = (token: string) => boolean | Promise<boolean>;

export type WatchReport = Parameters<PluginHost["status"]>[0];

/** What plugins register. */
export interface Registrations {
  readonly channels: Map<string, Owned<ChannelDefinition>>;
  readonly engines: Map<string, Owned<EngineDefinition>>;
  readonly presets: Map<string, Owned<PresetDefinition>>;
  readonly tools: Owned<ToolDefinition>[];
  readonly toolSources: Owned<ToolSource>[];
  readonly commands: Owned<CommandDefinition>[];
  readonly routes: Owned<RouteDefinition>[];
  /** Checks that vouch for device tokens. */
  readonly devices: Owned<DeviceCheck>[];
  readonly checks: Owned<CheckDefinition>[];
  readonly watched: Owned<WatchReport>[];
  /** Lists in the console. */
  readonly panels: Owned<PanelDefinition>[];
  /** Called when the configuration was edited. */
  readonly changes: Owned<() => void>[];
}

/** Of all plugins of a gateway. */
export interface Registry extends Registrations {
  /** What is declared and not switched off, also what failed: its schema still says what its section may hold. */
  readonly plugins: Map<string, PluginDefinition>;
  /** The sections of plugins that are switched off: their paths, and the plugin of each. */
  readonly off: Map<string, string>;
}

/** Of one plugin. */
export interface OwnRegistry extends Registrations {
  /** The sections that its `setup` has asked for. */
  readonly asked: Set<string>;
  readonly ready: (() => void | Promise<void>)[];
  readonly close: (() => void | Promise<void>)[];
}

function registrations(): Registrations {
  const lists = {
    tools: [],
    toolSources: [],
    commands: [],
    routes: [],
    devices: [],
    checks: [],
    watched: [],
    panels: [],
    changes: [],
  };
  return { channels: new Map(), engines: new Map(), presets: new Map(), ...lists };
}

export const createRegistry = (): Registry => ({ ...registrations(), plugins: new Map(), off: new Map() });

export const createOwnRegistry = (): OwnRegistry => ({ ...registrations(), asked: new Set(), ready: [], close: [] });

/** The engines, and the plugin of each. Of a copy, such as `new Map(registry.engines)`, they stay as they are now. */
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

function taken(plugin: string, what: string, by: string): PluginError {
  return new PluginError("plugin_invalid", { plugin, reason: `the ${what} is already provided by ${by}` });
}

export function addUnique<T extends { readonly id: string }>(
  map: Map<string, Owned<T>>,
  kind: string,
  plugin: string,
  definition: T,
): void {
  const other = map.get(definition.id);
  if (other !== undefined) throw taken(plugin, `${kind} ${definition.id}`, other.plugin);
  map.set(definition.id, { plugin, definition });
}

const maps = ["channels", "engines", "presets"] as const;
const lists = [
  "tools",
  "toolSources",
  "commands",
  "routes",
  "devices",
  "checks",
  "watched",
  "panels",
  "changes",
] as const;
const kinds = { channels: "channel", engines: "engine", presets: "preset" } as const;

/** Throws `PluginError` where a plugin registered what another one provides. */
export function checkUnique(registry: Registrations, own: Registrations, plugin: string): void {
  for (const name of maps) {
    for (const id of own[name].keys()) {
      const other = registry[name].get(id);
      if (other !== undefined && other.plugin !== plugin) throw taken(plugin, `${kinds[name]} ${id}`, other.plugin);
    }
  }
}

/** Puts what a plugin registered in the place of what it had registered before. */
export function enter(registry: Registrations, own: Registrations, plugin: string): void {
  for (const name of maps) {
    const map = registry[name] as Map<string, Owned<unknown>>;
    const entries = replaced([...map], ([, owned]) => owned.plugin === plugin, [...own[name]]);
    map.clear();
    for (const [id, owned] of entries) map.set(id, owned);
  }
  for (const name of lists) {
    const list = registry[name] as Owned<unknown>[];
    list.splice(0, list.length, ...replaced(list, (owned) => owned.plugin === plugin, own[name]));
  }
}
