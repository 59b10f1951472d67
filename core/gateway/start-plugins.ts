/** Starts the plugins of a gateway, each with its host, and adds their commands to the chat commands. */
import {
  type GatewayConfig,
  type PluginSchemas,
  type Problem,
  readSection,
  rememberSecrets,
  type Secrets,
  timezoneOf,
  withSchemas,
} from "../config/index.ts";
import { type Json, reasonOf } from "../contract/index.ts";
import {
  createPlugins,
  keepPluginCodes,
  type Loader,
  type Plugins,
  type ScopeOptions,
  schemasOf,
} from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import { type Current, pluginCache } from "./base.ts";
import { logProblem } from "./config-problems.ts";
import type { Runtime } from "./runtime.ts";

export interface StartOptions {
  /** Plugins in addition to those in the configuration. */
  readonly plugins?: readonly PluginDefinition[];
  /** Paths of plugins beside those that the configuration names. */
  readonly load?: readonly string[];
  /** Whether the plugins that come with the package are loaded; default true. */
  readonly bundled?: boolean;
  readonly pluginSetupMs?: number;
}

/** The user's settings for a preset; absent while the hook server is disabled. */
function presetSettings({ hooks }: GatewayConfig, id: string): Json | undefined {
  return hooks.enabled ? (hooks as unknown as Readonly<Record<string, Json | undefined>>)[id] : undefined;
}

/** Reports the problems that are noticed only now: the others were reported when the file was read. */
function followDeclared(
  { current, secrets, log }: { readonly current: Current; readonly secrets: Secrets; readonly log: Log },
  schemas: PluginSchemas,
): void {
  const known = new Set(current.loaded.problems.map(identity));
  current.schemas = schemas;
  current.loaded = withSchemas(current.loaded, schemas);
  rememberSecrets(current.loaded.config, secrets, schemas);
  for (const problem of current.loaded.problems) if (!known.has(identity(problem))) logProblem(log, problem);
}

const identity = ({ path, message }: Problem) => JSON.stringify([path, message]);

export async function bringUpPlugins(parts: {
  readonly options: StartOptions;
  readonly loader: Loader;
  readonly runtime: Pick<Runtime, "hooks" | "registry" | "newId"> & {
    readonly commands: Pick<Runtime["commands"], "add">;
    readonly path: Pick<Runtime["path"], "receive">;
    readonly owner: Pick<Runtime["owner"], "place">;
  };
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  /** Checked again by what the plugins declare, before the first of them is set up. */
  readonly current: Current;
  readonly address: { readonly url: string };
  readonly config: () => GatewayConfig;
  readonly secrets: Secrets;
  readonly handIn: ScopeOptions["handIn"];
  readonly stateDirectory: string;
  readonly cleanup: AsyncDisposableStack;
}): Promise<Plugins> {
  const { options, runtime, current, cleanup } = parts;
  const plugins = await createPlugins({
    hooks: runtime.hooks,
    registry: runtime.registry,
    store: parts.store,
    log: parts.log,
    now: parts.now,
    newId: runtime.newId,
    receive: (event) => runtime.path.receive(event),
    address: () => parts.address.url,
    owner: runtime.owner.place,
    takeDuty: async (name) => (await parts.store.nodes?.takeDuty(name)) ?? true,
    handIn: parts.handIn,
    presets: {
      settings: (id) => presetSettings(parts.config(), id),
      secret: (value, path) => parts.secrets.resolve(value, path),
    },
    sectionOf: (section) => readSection(section, parts.config),
    onDeclared: (definitions) => followDeclared(parts, schemasOf(definitions, runtime.registry.off.keys())),
    timezone: () => timezoneOf(parts.config()),
    config: parts.config,
    configDirectory: current.loaded.directory,
    disabled: current.loaded.disabled,
    loader: parts.loader,
    // Loaded only if a plugin is isolated.
    isolate: async (source, isWanted) => {
      const { createIsolation } = await import("../isolation/index.ts");
      const { log, now } = parts;
      const cacheDirectory = pluginCache(parts.stateDirectory);
      const trustedProxies = () => parts.config().gateway.trustedProxies;
      return await createIsolation({ log, now, cacheDirectory, trustedProxies })(source, isWanted);
    },
    given: options.plugins,
    load: options.load,
    bundled: options.bundled ?? true,
    setupMs: options.pluginSetupMs,
  });
  cleanup.defer(() => plugins.close());
  // Only `why` needs the codes, so a start neither waits for them nor fails with them.
  void keepPluginCodes(parts.store, runtime.registry).catch((error: unknown) => {
    parts.log.debug({ error: reasonOf(error) }, "the plugins' codes for why could not be stored");
  });
  for (const { plugin, definition } of runtime.registry.commands) {
    try {
      runtime.commands.add(plugin, definition);
    } catch (error) {
      parts.log.error({ plugin }, reasonOf(error));
    }
  }
  return plugins;
}
