/** Names of the entries of a backup, and where each is written. Nothing else decides where a restore writes. */
import { checksumsName, configName, manifestName } from "./manifest.ts";

/** Directories of a backup beside `state/`, whose content is written to the same name. */
const folders: readonly string[] = ["transforms", "workspaces", "secrets"];
/** Variables of the service, beside the configuration. */
export const environmentName = "environment";
const files: readonly string[] = [configName, environmentName];
export const stateFolder = "state";
/** What only a running gateway writes, and names of others. */
const reserved =
  /^(config\.jsonc|environment|transforms|workspaces|secrets|logs|cache|gateway\.json|lock\.|state\.json)/i;

/** Names that Windows gives to devices. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/** Why an entry with a safe path is refused all the same, as the end of a sentence; `undefined`: it is not. */
export function nameProblem(name: string): string | undefined {
  if (name === manifestName || name === checksumsName) return undefined;
  const parts = name.replace(/\/$/, "").split("/");
  if (parts.some((part) => device.test(part))) return "its path is not a plain one";
  const [first = "", second = ""] = parts;
  if (parts.length === 1 && !name.endsWith("/")) return files.includes(first) ? undefined : notExpected;
  if (first === stateFolder) return reserved.test(second) ? notExpected : undefined;
  return folders.includes(first) ? undefined : notExpected;
}

const notExpected = "a backup contains no such file";

/** The path below the restored directory, with slashes. */
export function targetOf(name: string): string {
  const plain = name.replace(/\/$/, "");
  return plain.startsWith(`${stateFolder}/`) ? plain.slice(stateFolder.length + 1) : plain;
}
