/** The configuration file as the running gateway reads and changes it: nothing secret comes out, nothing wrong goes in. */
import { type EditOptions, type EditResult, editConfig } from "./edit.ts";
import type { PluginSchemas } from "./plugin-schemas.ts";
import { parseConfigValue, showConfigValue } from "./values.ts";

export interface ConfigEditor {
  /** What is in force at a path, defaults included and secrets hidden; `undefined`: not set. An empty path is the whole. Throws `config_path_unknown`. */
  get(path: string): unknown;
  /** Sets a value as it was typed, see `parseConfigValue`. Throws what `editConfig` throws; then nothing was written. */
  set(path: string, text: string): Promise<EditResult>;
  /** Removes a value; its default is in force then. */
  unset(path: string): Promise<EditResult>;
}

export function createConfigEditor(options: {
  readonly file: string;
  readonly config: () => unknown;
  readonly schemas: () => PluginSchemas;
  readonly edit: EditOptions;
}): ConfigEditor {
  const { file, config, schemas, edit } = options;
  return {
    get: (path) => showConfigValue(config(), path, schemas()),
    set: async (path, text) => await editConfig(file, path, parseConfigValue(path, text, schemas()), edit),
    unset: async (path) => await editConfig(file, path, undefined, edit),
  };
}
