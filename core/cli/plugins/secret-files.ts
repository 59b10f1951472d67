/** Files with secrets that a plugin's commands store in the state directory. */
import { join } from "node:path";
import { PluginError } from "../../contract/errors.ts";
import type { CliCall } from "../../sdk/contract.ts";
import { openSecretFolder } from "../../state/secrets/secret-folder.ts";

export function createSecretFiles({
  plugin,
  stateDirectory,
}: {
  readonly plugin: string;
  readonly stateDirectory: () => Promise<string>;
}): CliCall["secretFiles"] {
  const folder = async () =>
    openSecretFolder(
      join(await stateDirectory(), "secrets", plugin),
      (name) => new PluginError("plugin_invalid", { plugin, reason: `${name} cannot be the name of a file` }),
    );
  return {
    path: async (name) => (await folder()).path(name),
    write: async (name, text) => (await folder()).write(name, text),
    remove: async (name) => (await folder()).remove(name),
  };
}
