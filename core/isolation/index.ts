/**
 * Plugins in threads of their own, behind the contract of every plugin. Loaded only when the configuration asks for it.
 */
import { PluginError } from "../contract/index.ts";
import { callPlugin, type Isolate, type PluginSource, pluginDeadlines } from "../host/index.ts";
import type { PluginDefinition, PluginHost, PluginLog } from "../sdk/contract.ts";
import type { PluginData, SectionData } from "./declaration.ts";
import type { Handlers } from "./peer.ts";
import { createProxyChannels } from "./proxy/channel.ts";
import { createProxyEngines } from "./proxy/engine.ts";
import { hostHandlers } from "./proxy/host-calls.ts";
import { registerAll } from "./proxy/registrations.ts";
import { createProxySettings } from "./proxy/settings.ts";
import { type Supervisor, startSupervisor } from "./supervisor.ts";

export interface IsolationOptions {
  readonly log: PluginLog;
  readonly now: () => number;
  /** Where transpiled modules are cached. */
  readonly cacheDirectory: string;
  readonly trustedProxies: () => readonly string[];
}

/** Loads plugins in workers. */
export function createIsolation(options: IsolationOptions): Isolate {
  return async (source, isWanted) => {
    const plugin = await openPlugin(source, options);
    const { declared, supervisor } = plugin;
    if (!isWanted(declared.id)) {
      await supervisor.close();
      return undefined;
    }
    if ("problem" in declared) {
      await supervisor.close();
      throw new PluginError("plugin_isolation", { plugin: declared.id, reason: declared.problem });
    }
    return {
      definition: plugin.define(declared.definition),
      report: supervisor.report,
      close: () => supervisor.close(),
    };
  };
}

async function openPlugin(source: PluginSource, { log, now, cacheDirectory, trustedProxies }: IsolationOptions) {
  // Each part is used by calls of the thread, which begin only after the plugin is set up.
  const parts: { host?: PluginHost; supervisor?: Supervisor } = {};
  const hostOf = () => needed(parts.host);
  const supervisorOf = () => needed(parts.supervisor);
  let watched: readonly unknown[] = [];
  let isReady = false;
  const channels = createProxyChannels(supervisorOf);
  const engines = createProxyEngines(supervisorOf);
  const handlers: Handlers = {
    ...channels.handlers,
    ...engines.handlers,
    ...hostHandlers({ host: hostOf, ownerOf: (owner) => (owner === null ? hostOf() : channels.account(owner)) }),
  };
  const { declared, supervisor } = await startSupervisor({
    ...{ settings: { source, cacheDirectory }, handlers, now },
    log: lateLog(() => parts.host?.log ?? log),
    facts: () => ({ trustedProxies: trustedProxies(), accounts: channels.facts() }),
    onPulse: (pulse) => {
      watched = pulse.watched;
    },
  });
  parts.supervisor = supervisor;
  const tellReady = () => supervisor.ask("ready", [hostOf().address()]);

  const defineSection = ({ checks, ...section }: SectionData): NonNullable<PluginDefinition["section"]> => {
    const { plugin, askWhenUp } = supervisorOf();
    const asked = { plugin, doing: `check of the section ${section.key}` };
    const check = (...args: readonly unknown[]) =>
      callPlugin(asked, pluginDeadlines.compute, () => askWhenUp<never>("section.check", args, { repeat: true }));
    return { ...section, ...(checks && { check }) };
  };

  const define = ({ channel, section, ...data }: PluginData): PluginDefinition => ({
    ...data,
    ...(section !== undefined && { section: defineSection(section) }),
    ...(channel !== undefined && { channel: channels.define(channel) }),
    async setup(host, values) {
      parts.host = host;
      host.onClose(() => supervisor.close());
      const declared = { section: section && defineSection(section), presets: data.presets };
      const own = createProxySettings(host, declared, () => supervisor.tell("settings", [own.facts()]));
      const registered = await supervisor.setUp(() => [values, own.facts()], {
        down: channels.down,
        async up() {
          const reopened = channels.up();
          if (isReady)
            await tellReady().catch((error: unknown) => host.log.error({ error: String(error) }, "onReady failed"));
          await reopened;
        },
      });
      registerAll(host, registered, { supervisor, channels, engines, watched: () => watched });
      host.onReady(async () => {
        isReady = true;
        await tellReady();
      });
    },
  });
  return { declared, supervisor, define };
}

function needed<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the plugin is not set up");
  return part;
}

/** The plugin's own log exists from its `setup` on. */
function lateLog(log: () => PluginLog): PluginLog {
  return {
    trace: (...line) => log().trace(...line),
    debug: (...line) => log().debug(...line),
    info: (...line) => log().info(...line),
    warn: (...line) => log().warn(...line),
    error: (...line) => log().error(...line),
  };
}
