/** The plugins that `plugins add` has installed beside a configuration. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HostError, reasonOf } from "../contract/index.ts";

/** Beside the configuration, with a folder for each version of a plugin, and the lock file. */
export const installedFolder = "installed-plugins";
const lockFile = "plugins-lock.json";

export interface InstalledPlugin {
  readonly version: string;
  /** Of the package as it was downloaded: `sha512-...`. */
  readonly integrity: string;
  /** `registry`, or the name of the file. */
  readonly from: string;
  /** In the folder of installed plugins; another one for each version. */
  readonly folder: string;
  /** What the plugin declared when it was added, by which the configuration names it. */
  readonly declares: {
    readonly id: string;
    readonly channel?: string;
    readonly sections: readonly string[];
  };
}

/** By the names of their packages. */
export type InstalledPlugins = Readonly<Record<string, InstalledPlugin>>;

export const lockFileOf = (configDirectory: string): string => join(configDirectory, installedFolder, lockFile);

/** Throws `plugins_lock_unreadable` if the lock file is damaged. */
export function installedPlugins(configDirectory: string): InstalledPlugins {
  const file = lockFileOf(configDirectory);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw unreadable(file, reasonOf(error), error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(file, "it is not JSON", error);
  }
  if (!isLock(value)) throw unreadable(file, "it is not a lock file of plugins");
  return value.plugins;
}

const unreadable = (file: string, reason: string, cause?: unknown) =>
  new HostError("plugins_lock_unreadable", { file, reason }, { cause });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isLock(value: unknown): value is { readonly plugins: InstalledPlugins } {
  return isRecord(value) && isRecord(value.plugins) && Object.values(value.plugins).every(isInstalled);
}

function isInstalled(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.declares)) return false;
  const { version, integrity, from, folder, declares } = value;
  const texts = [version, integrity, from, folder, declares.id];
  const isPlain = typeof folder === "string" && /^[\w@+][\w@+.-]*$/.test(folder);
  return texts.every((one) => typeof one === "string") && isPlain && Array.isArray(declares.sections);
}

/** The folder in which npm has installed a plugin, with its `package.json`; `undefined` for other plugins. */
export function folderOfInstalled(name: string, configDirectory: string): string | undefined {
  const plugins = installedPlugins(configDirectory);
  if (!Object.hasOwn(plugins, name)) return undefined;
  return join(configDirectory, installedFolder, plugins[name]?.folder ?? "");
}
