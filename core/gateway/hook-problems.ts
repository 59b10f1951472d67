/** Compiles the mappings of a configuration as a gateway would, from the files alone, to find their problems. */

import { channelMeant } from "../access/index.ts";
import { platformProblem, readAccounts } from "../channels/index.ts";
import {
  type CheckedConfig,
  createSecrets,
  type Environment,
  type GatewayConfig,
  type Problem,
} from "../config/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import { checkModule } from "../transforms/index.ts";
import { compileMappings, hookPolicies, type MappingTable } from "../webhooks/index.ts";

export interface HookDeclarations {
  readonly table: MappingTable;
  readonly policies: ReturnType<typeof hookPolicies>;
}

interface CompileOptions {
  /** Default: without the sections that have an error. */
  readonly config?: GatewayConfig;
  /**
   * True: an account with an error counts as one that will run. Its error is reported in its own place, and it says
   * what to do.
   */
  readonly ignoreBroken?: boolean;
}

export async function compileHooks(
  plugins: readonly PluginDefinition[],
  checked: CheckedConfig,
  env: Environment,
  { config = checked.config, ignoreBroken = false }: CompileOptions = {},
): Promise<HookDeclarations> {
  const { directory } = checked;
  const channels = new Map(
    plugins.flatMap(({ channel }) => (channel === undefined ? [] : [[channel.id, channel] as const])),
  );
  const secrets = createSecrets({ env, directory });
  const available = new Set<string>();
  const read = [...channels].map(async ([id, channel]) => {
    const section = Object.hasOwn(config.channels, id) ? config.channels[id] : undefined;
    const accounts = await readAccounts(channel, section, { secrets, environment: env });
    if (accounts.some(({ settings }) => ignoreBroken || settings !== undefined)) available.add(id);
  });
  await Promise.all(read);
  const policies = hookPolicies(() => config, {
    channels: () => channels.keys(),
    available: (id) => available.has(id),
    meant: (word) => channelMeant(word, channels.values())?.explanation,
    platformProblem: (id, given) => platformProblem(channels.get(id), given),
  });
  const { hooks } = config;
  const table = compileMappings({
    ...policies,
    hooks,
    problems: checked.problems,
    presets: new Map(plugins.flatMap(({ presets = [] }) => presets.map((preset) => [preset.id, preset] as const))),
    secret: (value, path) => secrets.resolve(value, path),
    checkTransform: (module) => checkModule(module, { configDirectory: directory, transformsDir: hooks.transformsDir }),
  });
  return { table, policies };
}

/** Also while the hook server is disabled: a configuration with mappings will eventually enable it. */
export async function hookProblems(
  plugins: readonly PluginDefinition[],
  checked: CheckedConfig,
  env: Environment,
): Promise<readonly Problem[]> {
  return (await compileHooks(plugins, checked, env, { config: checked.checkable, ignoreBroken: true })).table.problems;
}
