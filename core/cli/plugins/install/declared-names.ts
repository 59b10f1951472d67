/** The names by which the configuration and the gateway know a plugin. */
import { sectionsOf } from "../../../host/declaration/schemas.ts";
import { bundledStores } from "../../../host/find.ts";
import type { InstalledPlugin } from "../../../host/installed.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import type { CommandContext } from "../../context.ts";
import { readDeclarations } from "../declarations.ts";
import { refused } from "../package/fetch-package.ts";

export const declaredBy = (definition: PluginDefinition): InstalledPlugin["declares"] => ({
  id: definition.id,
  ...(definition.channel === undefined ? {} : { channel: definition.channel.id }),
  sections: sectionsOf(definition),
});

/** Throws `plugin_refused` if another plugin of the configuration, or one that comes with the program, has a name. */
export async function checkNames(
  { definition, name }: { readonly definition: PluginDefinition; readonly name: string },
  context: CommandContext,
): Promise<void> {
  const loaded = await context.load();
  const { config } = loaded;
  const load = config.plugins.load.filter((one) => one !== name);
  const others = { ...loaded, config: { ...config, plugins: { ...config.plugins, load } } };
  const declared = await readDeclarations(others, await context.stateDirectory(), context.terminal);
  const { id, channel } = definition;
  const taken = (what: string, owner: string) =>
    refused(name, `${what} is taken by ${owner}`, "Remove the other one first, or ask the author for another name.");
  const whose = (plugin: { readonly id: string; readonly bundled: boolean }) =>
    plugin.bundled ? "a plugin that comes with this program" : `the plugin ${plugin.id}, which plugins.load names`;
  const sameId = declared.find((one) => one.id === id);
  if (sameId !== undefined) throw taken(`its id ${id}`, whose(sameId));
  if (bundledStores().some((store) => store.name === id))
    throw taken(`its id ${id}`, "a plugin that comes with this program");
  const sameChannel = declared.find((one) => channel !== undefined && one.definition?.channel?.id === channel.id);
  if (sameChannel !== undefined) throw taken(`its channel ${channel?.id}`, whose(sameChannel));
  const sections = new Set(sectionsOf(definition));
  for (const other of declared) {
    const section = other.definition && sectionsOf(other.definition).find((one) => sections.has(one));
    if (section !== undefined) throw taken(`its section ${section}`, whose(other));
  }
}
