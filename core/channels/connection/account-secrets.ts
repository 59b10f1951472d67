/** What a channel got when a person signed in: secrets of one account, in its folder of the state directory. */
import { join } from "node:path";
import { PluginError } from "../../contract/index.ts";
import type { AccountSecrets } from "../../sdk/contract.ts";
import { accountSecretsFolder, openSecretFolder } from "../../state/index.ts";

const maxBytes = 65_536;

/**
 * `remember` gets each secret that there is, or that is set, so that it is removed from what is logged, stored and
 * shown.
 */
export function openAccountSecrets({
  directory,
  plugin,
  remember,
}: {
  /** That of the account. */
  readonly directory: string;
  readonly plugin: string;
  readonly remember: (text: string) => void;
}): AccountSecrets {
  const refuse = (reason: string) => new PluginError("plugin_invalid", { plugin, reason });
  const folder = openSecretFolder(join(directory, accountSecretsFolder), (name) =>
    refuse(`${JSON.stringify(name.slice(0, 80))} cannot be the name of a secret`),
  );
  for (const text of folder.all()) remember(text);
  return {
    async get(name) {
      const text = folder.read(name);
      // A command may have written it while the gateway runs.
      if (text !== undefined) remember(text);
      return text;
    },
    async set(name, text) {
      if (typeof text !== "string" || text === "" || Buffer.byteLength(text) > maxBytes)
        throw refuse(`the secret ${name} must be a text of 1 to ${maxBytes} bytes`);
      remember(text);
      folder.write(name, text);
    },
    delete: async (name) => folder.remove(name),
  };
}
