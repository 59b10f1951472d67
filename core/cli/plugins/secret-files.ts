/** Files with secrets that a plugin's commands store in the state directory. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { PluginError } from "../../contract/errors.ts";
import type { CliCall } from "../../sdk/contract.ts";
import { makeDirectory, writeWhole } from "../../state/directory.ts";

const fileName = /^[A-Za-z0-9@_-][A-Za-z0-9@._-]{0,127}$/;

export function createSecretFiles({
  plugin,
  stateDirectory,
}: {
  readonly plugin: string;
  readonly stateDirectory: () => Promise<string>;
}): CliCall["secretFiles"] {
  const directory = async () => join(await stateDirectory(), "secrets", plugin);
  const fileOf = async (name: string): Promise<string> => {
    if (!fileName.test(name))
      throw new PluginError("plugin_invalid", { plugin, reason: `${name} cannot be the name of a file` });
    return join(await directory(), name);
  };
  return {
    path: fileOf,
    async write(name, text) {
      const file = await fileOf(name);
      makeDirectory(await directory());
      writeWhole(file, text);
      return file;
    },
    async remove(name) {
      try {
        rmSync(await fileOf(name));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
        throw error;
      }
    },
  };
}
