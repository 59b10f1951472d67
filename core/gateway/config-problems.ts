/**
 * Problems of a configuration that its own schema cannot find: options of plugins, accounts of channels, mappings of
 * hooks.
 */

import { readAccounts } from "../channels/index.ts";
import {
  type CheckedConfig,
  createSecrets,
  type Environment,
  type GatewayConfig,
  getPath,
  isMap,
  namesOf,
  nodeOf,
  type Problem,
  parsePath,
  placesOf,
  renderPath,
  suggestKey,
  timezoneOf,
  validateSection,
} from "../config/index.ts";
import { programCommand, reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { ChannelDefinition, PluginDefinition } from "../sdk/contract.ts";
import { hookProblems } from "./hook-problems.ts";
import { withMisnamed } from "./misnamed-channels.ts";

/** Problems that the plugin's own schema finds in its options. */
export function optionProblems({ id, options }: PluginDefinition, config: GatewayConfig): readonly Problem[] {
  if (options === undefined) return [];
  const path = `plugins.entries.${id}.options`;
  return validateSection(options, config.plugins.entries[id]?.options ?? {}, path).problems.map(
    switchingOff(`plugins.entries.${id}`),
  );
}

/** The problems of one plugin's section. An error switches off the part of the section that it is in. */
export async function sectionProblems(
  { id, section }: PluginDefinition,
  { checkable }: Pick<CheckedConfig, "checkable">,
  now: () => number,
): Promise<readonly Problem[]> {
  if (section?.check === undefined) return [];
  const places = placesOf(section, checkable).filter(({ settings }) => !isNothing(settings));
  if (places.length === 0) return [];
  const around = { ...namesOf(checkable), timezone: timezoneOf(checkable), now: now() };
  const found = places.map(async ({ path: place, settings }): Promise<readonly Problem[]> => {
    try {
      const problems = (await section.check?.(settings, around)) ?? [];
      return problems.map((problem) => placedProblem(section, place, problem));
    } catch (error) {
      return [{ severity: "error", path: place, message: `the plugin ${id} could not check it: ${reasonOf(error)}` }];
    }
  });
  return (await Promise.all(found)).flat();
}

type SectionProblem = Awaited<ReturnType<NonNullable<NonNullable<PluginDefinition["section"]>["check"]>>>[number];

function placedProblem(
  { of, schema }: NonNullable<PluginDefinition["section"]>,
  place: string,
  { path, message, hint, warning }: SectionProblem,
): Problem {
  const below = (keys: readonly string[]) => renderPath([...(parsePath(place) ?? [place]), ...keys]);
  const problem = { path: below(path), message, hint };
  if (warning === true) return { severity: "warning", ...problem };
  // The entries of a map do not depend on each other, so the plugin leaves out the wrong one.
  const isEntry = of === undefined && path.length > 0 && isMap(nodeOf(schema));
  return { severity: "error", ...problem, ...(isEntry && { section: below(path.slice(0, 1)) }) };
}

const isNothing = (settings: unknown): boolean =>
  typeof settings === "object" && settings !== null && Object.keys(settings).length === 0;

/** Problems of a channel's accounts, without those that the check of the file has already reported. */
export async function accountProblems(
  channel: ChannelDefinition,
  { checkable: { channels }, directory, problems: reported }: CheckedConfig,
  env: Environment,
): Promise<readonly Problem[]> {
  const read = Object.hasOwn(channels, channel.id) ? channels[channel.id] : undefined;
  const root = `channels.${channel.id}`;
  const accounts = await readAccounts(channel, read, { secrets: createSecrets({ env, directory }), environment: env });
  return (
    accounts
      // An invalid account does not switch off the others.
      .flatMap(({ path: account, problems }) =>
        problems
          // A problem of an inherited option is reported at the place of that option.
          .filter(({ path, message }) => {
            const places = [path, path.startsWith(account) ? `${root}${path.slice(account.length)}` : path];
            return !reported.some((one) => places.includes(one.path) && one.message === message);
          })
          .map(switchingOff(account)),
      )
  );
}

/**
 * The same for accounts that an error in the file switched off: nothing opens them, so nothing else would check them.
 */
async function offAccountProblems(
  channels: readonly ChannelDefinition[],
  checked: CheckedConfig,
  env: Environment,
): Promise<readonly Problem[]> {
  const off = [...checked.disabled].filter((section) => section.startsWith("channels."));
  const isOff = ({ path }: Problem) => off.some((section) => path === section || path.startsWith(`${section}.`));
  if (off.length === 0) return [];
  const found = await Promise.all(channels.map((channel) => accountProblems(channel, checked, env)));
  return found
    .flat()
    .filter(isOff)
    .map((problem) => ({ ...checked.locate(problem.path), ...problem }));
}

/** Sections of channels that no plugin provides, which would have no effect. */
export function unknownChannels(
  { channels }: Pick<GatewayConfig, "channels">,
  provided: readonly string[],
): readonly Problem[] {
  return Object.entries(channels).flatMap(([id, section]) => {
    if (provided.includes(id) || section.enabled === false) return [];
    const hint =
      suggestKey(id, provided) ??
      `Add its plugin with \`${programCommand} plugins add NAME\`, or name it in plugins.load. ` +
        `Available channels: ${provided.join(", ") || "none"}.`;
    return [
      {
        severity: "warning",
        path: `channels.${id}`,
        message: "no enabled plugin provides this channel",
        hint,
      } as const,
    ];
  });
}

/** Problems of channels and accounts that are not opened; the others report their problems when they open. */
export async function unopenedChannels(
  channels: readonly ChannelDefinition[],
  checked: CheckedConfig,
  env: Environment,
): Promise<readonly Problem[]> {
  const ids = channels.map(({ id }) => id);
  const found = [...(await offAccountProblems(channels, checked, env)), ...unknownChannels(checked.checkable, ids)];
  return withMisnamed(checked.written, channels, found);
}

/** All problems of a configuration that only the active plugins can find. */
export async function pluginProblems(
  plugins: readonly PluginDefinition[],
  checked: CheckedConfig,
  { env, now }: { readonly env: Environment; readonly now: () => number },
): Promise<readonly Problem[]> {
  const own = plugins.map(async (plugin) => [
    ...optionProblems(plugin, checked.checkable),
    ...(await sectionProblems(plugin, checked, now)),
    ...(plugin.channel === undefined ? [] : await accountProblems(plugin.channel, checked, env)),
  ]);
  const found = [
    ...(await Promise.all(own)).flat(),
    ...unknownChannels(checked.checkable, channelsOf(plugins)),
    ...(await hookProblems(plugins, checked, env)),
  ];
  return withMisnamed(checked.written, channelDefinitions(plugins), found).map((problem) => ({
    ...checked.locate(problem.path),
    ...problem,
  }));
}

export const channelDefinitions = (plugins: readonly PluginDefinition[]) =>
  plugins.flatMap(({ channel }) => channel ?? []);

export const channelsOf = (plugins: readonly PluginDefinition[]): readonly string[] =>
  plugins.flatMap(({ channel }) => channel?.id ?? []);

/** Sections whose plugins are switched off, by their paths: what the file has there would have no effect. */
export function unreadSections(
  off: ReadonlyMap<string, string>,
  { written, checkable }: CheckedConfig,
): readonly Problem[] {
  return [...off].flatMap(([path, plugin]) => {
    const [top, , key = ""] = path.split(".");
    const places =
      top === "agents"
        ? placesOf({ key, of: "agents" }, checkable)
        : [{ path, settings: getPath(written, path.split(".")) }];
    return places.flatMap((place): readonly Problem[] => {
      if (place.settings === undefined || isNothing(place.settings)) return [];
      const hint = `Enable the plugin ${plugin} with plugins.entries.${plugin}.enabled, or remove the key.`;
      return [{ severity: "warning", path: place.path, message: "no enabled plugin reads this key", hint }];
    });
  });
}

const switchingOff =
  (section: string) =>
  (problem: Problem): Problem =>
    problem.severity === "error" ? { ...problem, section } : problem;

/** Logs a problem of the configuration as one line. */
export function logProblem(log: Log, problem: Problem): void {
  const line = {
    path: problem.path,
    ...(problem.line === undefined ? {} : { line: problem.line, column: problem.column }),
    hint: problem.hint,
  };
  if (problem.severity === "error") log.error(line, `configuration: ${problem.message}`);
  else log.warn(line, `configuration: ${problem.message}`);
}
