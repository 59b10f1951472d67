/** Reads what plugins declare, without setting them up, for commands that work while no gateway is running. */
import { join } from "node:path";
import type { PluginSchemas } from "../../config/plugin-schemas.ts";
import { type CheckedConfig, type LoadedConfig, withSchemas } from "../../config/reading/load.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { HostError, PluginError, reasonOf } from "../../contract/errors.ts";
import { optionProblems } from "../../gateway/config-problems.ts";
import { type PluginReport, usedStore } from "../../host/collect.ts";
import { schemasOf, sectionsOf } from "../../host/declaration/schemas.ts";
import { checkDeclaration } from "../../host/declare.ts";
import { bundledPlugins, namedPlugin, type PluginSource, placeOf } from "../../host/find.ts";
import { createLoader } from "../../host/load.ts";
import type { PluginDefinition } from "../../sdk/contract.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import type { Terminal } from "../output/terminal.ts";

export interface Declared extends Omit<PluginReport, "state"> {
  /** `ready`: a gateway would set it up. */
  readonly state: "ready" | "off" | "failed";
  readonly definition?: PluginDefinition;
}

export async function readDeclarations(
  { config, directory }: CheckedConfig,
  stateDirectory: string,
  { note }: Pick<Terminal, "note">,
): Promise<readonly Declared[]> {
  const loader = createLoader({ cacheDirectory: join(stateDirectory, "cache", "plugins"), fresh: false });
  const declared: Declared[] = [];
  /** The plugin of each id. A plugin that is off takes none, as in a gateway that starts. */
  const owners = new Map<string, PluginSource>();
  const sources = [
    ...[...bundledPlugins(), ...usedStore(config)].map((source) => () => source),
    ...config.plugins.load.map((name) => () => namedPlugin(name, directory)),
  ];
  for (const [index, find] of sources.entries()) {
    let source: PluginSource | undefined;
    try {
      source = find();
      const found = stateOf(
        checkDeclaration(source.name, await withProgress(source.name, loader.load(source), note)),
        source,
        config,
      );
      const first = owners.get(found.id);
      if (found.state !== "off" && first !== undefined)
        throw new PluginError("plugin_duplicate", { plugin: found.id, first: placeOf(first), second: placeOf(source) });
      if (found.state !== "off") owners.set(found.id, source);
      declared.push(found);
    } catch (thrown) {
      const id = source?.name ?? config.plugins.load[index - (sources.length - config.plugins.load.length)] ?? "plugin";
      const hint = thrown instanceof HostError ? { hint: thrown.hint } : {};
      declared.push({ id, bundled: source?.bundled ?? false, state: "failed", reason: reasonOf(thrown), ...hint });
    }
  }
  return declared;
}

function stateOf(definition: PluginDefinition, { bundled }: PluginSource, config: GatewayConfig): Declared {
  const { id, version } = definition;
  const base = { id, version, bundled, definition };
  const entry = config.plugins.entries[id];
  if (entry?.enabled === false) return { ...base, state: "off", reason: `plugins.entries.${id}.enabled is false` };
  if (definition.optIn === true && entry?.enabled !== true) {
    return { ...base, state: "off", reason: `plugins.entries.${id}.enabled is not set` };
  }
  const [problem] = optionProblems(definition, config).filter(({ severity }) => severity === "error");
  if (problem === undefined) return { ...base, state: "ready" };
  return {
    ...base,
    state: "failed",
    reason: `${problem.path}: ${problem.message}`,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
  };
}

/** The configuration, checked by what all plugins declare. */
export async function loadDeclared(
  context: CommandContext,
): Promise<{ readonly loaded: LoadedConfig; readonly declared: readonly Declared[] }> {
  const loaded = await context.load();
  const declared = await readDeclarations(loaded, await context.stateDirectory(), context.terminal);
  return { loaded: withSchemas(loaded, declaredSchemas(declared)), declared };
}

/** The plugins that a gateway would set up. */
export function readyPlugins(declared: readonly Declared[]): readonly PluginDefinition[] {
  return declared.filter(({ state }) => state === "ready").flatMap(({ definition }) => definition ?? []);
}

/** The sections of plugins that are switched off: their paths, and the plugin of each. */
export function offSections(declared: readonly Declared[]): ReadonlyMap<string, string> {
  const off = declared.filter(({ state }) => state === "off").flatMap(({ definition }) => definition ?? []);
  return new Map(off.flatMap((definition) => sectionsOf(definition).map((path) => [path, definition.id] as const)));
}

/** The schemas of all declared plugins, including those that are off. */
export function declaredSchemas(declared: readonly Declared[]): PluginSchemas {
  return schemasOf(declared.flatMap(({ definition }) => definition ?? []));
}
