/** The parts of the configuration that belong to a plugin, for its commands to read and change. */
import { dirname, resolve } from "node:path";
import { type EditOptions, editConfig } from "../../config/editing/edit.ts";
import { type LoadedConfig, withSchemas } from "../../config/reading/load.ts";
import { createSecrets, type Secrets } from "../../config/secrets.ts";
import { readSection, secretPath } from "../../config/section-settings.ts";
import { schemasOf } from "../../host/declaration/schemas.ts";
import type { CliCall, PluginDefinition } from "../../sdk/contract.ts";
import { pluginProblems } from "../config.ts";
import type { CommandContext } from "../context.ts";
import { type Declared, declaredSchemas, readDeclarations } from "./declarations.ts";

export interface OwnConfiguration {
  /** The file as it is now, checked by what this plugin declares: to read its settings, no other plugin is loaded. */
  load(): Promise<LoadedConfig>;
  /** Checked by what all plugins declare. */
  loadAll(): Promise<{ readonly loaded: LoadedConfig; readonly declared: readonly Declared[] }>;
  /** Resolves with whether the file has changed. Rejects with `config_invalid` if the change would cause an error. */
  edit(path: readonly string[], value: unknown): Promise<boolean>;
  readonly secrets: Secrets;
}

export function openOwnConfiguration(
  context: CommandContext,
  definition: Pick<PluginDefinition, "id" | "presets" | "section">,
): OwnConfiguration {
  const { configFile, env, terminal } = context;
  let declared: Promise<readonly Declared[]> | undefined;
  const declarations = async (loaded: LoadedConfig) => {
    declared ??= context.stateDirectory().then((directory) => readDeclarations(loaded, directory, terminal));
    return await declared;
  };
  return {
    load: async () => withSchemas(await context.load(), schemasOf([definition as PluginDefinition])),
    async loadAll() {
      const loaded = await context.load();
      const known = await declarations(loaded);
      return { loaded: withSchemas(loaded, declaredSchemas(known)), declared: known };
    },
    async edit(path, value) {
      const known = await declarations(await context.load());
      const check: EditOptions["check"] = (checked) => pluginProblems(known, checked, context);
      return (await editConfig(configFile.file, path, value, { env, schemas: declaredSchemas(known), check })).changed;
    },
    secrets: createSecrets({ env, directory: dirname(resolve(configFile.file)) }),
  };
}

type CliSection = Awaited<ReturnType<CliCall["section"]>>;

/** With the settings of an error too: the command may be the one that repairs it. */
export async function openSection(
  section: NonNullable<PluginDefinition["section"]>,
  { load, edit, secrets }: OwnConfiguration,
): Promise<CliSection> {
  const { checkable } = await load();
  const root = section.of === "agents" ? ["agents", "defaults", section.key] : [section.key];
  return {
    ...readSection(section, () => checkable),
    secret: (value, place) => secrets.resolve(value, secretPath(section, place)),
    set: (path, value) => edit([...root, ...path], value),
  };
}
