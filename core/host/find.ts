/**
 * Lists the available plugins: the bundled folders, then the entries of `plugins.load`. The working directory is never
 * searched.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HostError, programCommand, reasonOf } from "../contract/index.ts";
import { folderOfInstalled } from "./installed.ts";

export interface PluginSource {
  /** Folder name of a bundled plugin, otherwise the name in the configuration. */
  readonly name: string;
  /** The module to load. */
  readonly file: string;
  /** The folder whose files are read again with it; default: the folder of `file`. */
  readonly folder?: string;
  readonly bundled: boolean;
}

/** Where a plugin comes from, for errors that name two of one id. */
export function placeOf({ file, bundled }: PluginSource): string {
  if (file === "") return "a plugin of the embedding program";
  return bundled ? `the bundled one (${file})` : file;
}

/** TypeScript in the repository, JavaScript in the published package. */
const moduleEnding = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** The folders of this package's own plugins. */
function bundledFolders(): readonly PluginSource[] {
  const root = fileURLToPath(new URL("../../plugins/", import.meta.url));
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => ({ name: entry.name, file: join(root, entry.name, `index.${moduleEnding}`), bundled: true }))
    .filter((source) => existsSync(source.file))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const isStore = ({ name }: PluginSource) => name.startsWith("store-");

/** The bundled plugins except the stores, of which a gateway loads at most the one that it uses. */
export function bundledPlugins(): readonly PluginSource[] {
  // A folder with a manifest is a package of its own, for those who name it in `plugins.load`.
  return bundledFolders().filter(
    (source) => !isStore(source) && !existsSync(join(dirname(source.file), "package.json")),
  );
}

export function bundledStores(): readonly PluginSource[] {
  return bundledFolders().filter(isStore);
}

/**
 * Finds a plugin by path (relative to the configuration; `~` is the home directory), or as a package: one that
 * `plugins add` has installed, else one that npm has installed beside the configuration.
 */
export function namedPlugin(name: string, configDirectory: string): PluginSource {
  const isPath = name.startsWith(".") || name.startsWith("~/") || isAbsolute(name);
  try {
    if (!isPath) return { name, file: packageAt(name, configDirectory), bundled: false };
    const path = resolve(configDirectory, name.replace(/^~(?=\/)/, homedir()));
    const file = moduleAt(path);
    return { name, file, bundled: false, folder: file === path ? dirname(path) : path };
  } catch (error) {
    throw new HostError("plugin_not_found", { plugin: name, reason: reasonOf(error) }, { cause: error });
  }
}

function packageAt(name: string, configDirectory: string): string {
  const installed = folderOfInstalled(name, configDirectory);
  // A copy in a folder above would be another version.
  if (installed !== undefined && !existsSync(join(installed, "node_modules", name)))
    throw new Error(`${installed} is not complete; \`${programCommand} plugins add\` installs it again`);
  const beside = join(installed ?? configDirectory, "package.json");
  try {
    return resolvePackage(name, beside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    const manifest = manifestOf(name, beside);
    if (manifest !== undefined) throw unbuilt(manifest);
    throw new Error(
      `no package of this name is installed for ${configDirectory}; a folder must begin with ./, ../, ~/ or /`,
    );
  }
}

const unbuilt = (manifest: string) =>
  new Error(`the module that ${manifest} names does not exist; build the package, or correct its exports or main`);

/** Resolves a package as `require` does, and a package whose `exports` only allow `import` by these. */
function resolvePackage(name: string, from: string): string {
  const require = createRequire(from);
  try {
    return require.resolve(name);
  } catch (error) {
    const isUnseen = (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
    const manifest = isUnseen ? manifestOf(name, from) : undefined;
    if (manifest === undefined) throw error;
    const { exports } = readManifest(manifest);
    const [, subpath = ""] = /^(?:@[^/]+\/)?[^/]+(\/.+)?$/.exec(name) ?? [];
    const target = importTarget(hasSubpaths(exports) ? exports[`.${subpath}`] : exports);
    if (target === undefined) throw error;
    return require.resolve(join(dirname(manifest), target));
  }
}

const importConditions: readonly string[] = ["node", "import", "default"];

const hasSubpaths = (exports: unknown): exports is Readonly<Record<string, unknown>> =>
  typeof exports === "object" && exports !== null && Object.keys(exports).some((key) => key.startsWith("."));

/** What `exports` of a package names for those who import it. */
function importTarget(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const usable = Object.entries(exports).filter(
    ([condition]) => Array.isArray(exports) || importConditions.includes(condition),
  );
  return usable.map(([, target]) => importTarget(target)).find((target) => target !== undefined);
}

/** The `package.json` of an installed package. */
function manifestOf(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}

const readManifest = (file: string) =>
  JSON.parse(readFileSync(file, "utf8")) as { readonly name?: unknown; readonly exports?: unknown };

function moduleAt(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} does not exist`);
  if (!statSync(path).isDirectory()) return path;
  const found = ["index.ts", "index.mts", "index.js", "index.mjs"]
    .map((file) => join(path, file))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  if (existsSync(join(path, "package.json"))) return entryOfPackage(path);
  throw new Error(`${path} contains no index.ts or index.js`);
}

/** The entry of a package in a folder: by its `exports`, which a package finds under its own name, else by `main`. */
function entryOfPackage(folder: string): string {
  const file = join(folder, "package.json");
  const { name, exports } = readManifest(file);
  try {
    return resolvePackage(exports !== undefined && typeof name === "string" ? name : folder, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw unbuilt(file);
  }
}
