/** Brings up the plugins of a gateway: with what they are handed, and their commands among those of chats. */
import type { LoadedConfig } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import { createPlugins, keepPluginCodes, type Loader, type Plugins } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import type { Runtime } from "./runtime.ts";
import type { Undo } from "./undo.ts";

export interface StartOptions {
  /** Plugins beside those that the configuration names. */
  readonly plugins?: readonly PluginDefinition[];
  /** Whether the plugins that come with the package are loaded; default true. */
  readonly bundled?: boolean;
  readonly pluginSetupMs?: number;
}

export async function bringUpPlugins(parts: {
  readonly options: StartOptions;
  readonly loader: Loader;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly loaded: LoadedConfig;
  readonly address: { readonly url: string };
  readonly undo: Undo;
}): Promise<Plugins> {
  const { options, runtime, loaded, undo } = parts;
  const stop = new AbortController();
  undo.add(() => stop.abort());
  const plugins = await createPlugins({
    hooks: runtime.hooks,
    registry: runtime.registry,
    store: parts.store,
    log: parts.log,
    signal: stop.signal,
    now: parts.now,
    newId: runtime.newId,
    receive: (event) => runtime.path.receive(event),
    address: () => parts.address.url,
    config: loaded.config,
    configDirectory: loaded.directory,
    disabled: loaded.disabled,
    loader: parts.loader,
    ...(options.plugins === undefined ? {} : { given: options.plugins }),
    bundled: options.bundled ?? true,
    ...(options.pluginSetupMs === undefined ? {} : { setupMs: options.pluginSetupMs }),
  });
  undo.add(() => plugins.close());
  // Only `why` misses them: a start neither waits for it nor fails with it.
  void keepPluginCodes(parts.store, runtime.registry).catch((error: unknown) => {
    parts.log.debug({ error: reasonOf(error) }, "the codes of the plugins could not be kept for why");
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
