/** What plugins declare of the configuration, for checking it as a whole. */
import type { PluginSchemas } from "../../config/index.ts";
import { type PluginDefinition, Type } from "../../sdk/contract.ts";

type Section = NonNullable<PluginDefinition["section"]>;

const agentsPath = "agents.defaults.";
const hooksPath = "hooks.";

/** Where the section of a plugin is; of a section of agents, that of their defaults. */
const sectionPath = ({ key, of }: Section): string => (of === "agents" ? `${agentsPath}${key}` : key);

/**
 * What a plugin declares of the configuration beside its options: the paths of its section, and of each preset with
 * settings of its own.
 */
export function sectionsOf({ section, presets = [] }: PluginDefinition): readonly string[] {
  const ofPresets = presets.filter(({ settings }) => settings !== undefined).map(({ id }) => `${hooksPath}${id}`);
  return section === undefined ? ofPresets : [sectionPath(section), ...ofPresets];
}

/** `off`: paths of sections whose plugins are switched off. What they contain is not checked. */
export function schemasOf(definitions: readonly PluginDefinition[], off: Iterable<string> = []): PluginSchemas {
  const channels = definitions.flatMap(({ channel }) =>
    channel === undefined ? [] : [[channel.id, channel] as const],
  );
  const plugins = definitions.flatMap(({ id, options }) => (options === undefined ? [] : [[id, options] as const]));
  const sections = definitions.flatMap(({ section }) => section ?? []);
  const presets = definitions.flatMap((plugin) => plugin.presets ?? []);
  const unchecked = [...off];
  const below = (lead: string) => unchecked.flatMap((path) => (path.startsWith(lead) ? [path.slice(lead.length)] : []));
  const keyed = (of: Section["of"]) =>
    sections.filter((one) => one.of === of).map(({ key, schema }) => [key, schema] as const);
  const anything = (keys: readonly string[]) => keys.map((key) => [key, Type.Unknown()] as const);
  return {
    channels: Object.fromEntries(channels),
    plugins: Object.fromEntries(plugins),
    sections: Object.fromEntries([...anything(unchecked.filter((path) => !path.includes("."))), ...keyed(undefined)]),
    agents: Object.fromEntries([...anything(below(agentsPath)), ...keyed("agents")]),
    presets: Object.fromEntries([
      ...below(hooksPath).map((id) => [id, Type.Object({}, { additionalProperties: true })] as const),
      ...presets.map(({ id, settings }) => [id, settings] as const),
    ]),
    synonyms: Object.fromEntries(sections.flatMap(synonymsOf)),
  };
}

/** Keys at the top that mean the section. */
function synonymsOf(section: Section): readonly (readonly [string, string])[] {
  const { key, of, otherNames = [] } = section;
  return [...(of === "agents" ? [key] : []), ...otherNames].map((name) => [name, sectionPath(section)]);
}
