/**
 * `gateway.json` in the state directory: gives the command line the address and the configuration file of the running
 * gateway.
 */
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { HostError } from "../contract/index.ts";
import { writeWhole } from "../state/index.ts";

const fileOf = (stateDirectory: string) => join(stateDirectory, "gateway.json");
/** Files of the state directory with names that people give to configuration files. */
const written = ["gateway.json", "state.json"];

/**
 * Refuses a configuration file that the gateway would overwrite with its own.
 *
 * @throws `config_name_taken`
 */
export function checkConfigName(configFile: string, stateDirectory: string): void {
  if (written.some((name) => resolve(configFile) === resolve(stateDirectory, name)))
    throw new HostError("config_name_taken", { file: configFile });
}

export function writeAddress(
  stateDirectory: string,
  content: { readonly url: string; readonly pid: number; readonly startedAt: number; readonly configFile: string },
  cleanup: AsyncDisposableStack,
): void {
  const file = fileOf(stateDirectory);
  const text = `${JSON.stringify(content)}\n`;
  writeWhole(file, text);
  cleanup.defer(() => {
    // After the state is lost, the file is gone or belongs to another gateway.
    if (readText(file) === text) rmSync(file, { force: true });
  });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
