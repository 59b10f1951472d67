/** The package that a plugin is in. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HostError, reasonOf } from "../../../contract/errors.ts";

export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface PluginPackage {
  readonly folder: string;
  /** Its `package.json`. */
  readonly file: string;
  readonly manifest: Manifest;
}

/** The nearest package around a module; `undefined` for one that is in the folder of a configuration, say. */
export function packageAround(entry: string): PluginPackage | undefined {
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file)) return { folder, file, manifest: readManifest(file) };
    if (folder === dirname(folder)) return undefined;
  }
}

export function readManifest(file: string): Manifest {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
  } catch (error) {
    throw new HostError(
      "plugin_not_found",
      { plugin: dirname(file), reason: `${file} cannot be read: ${reasonOf(error)}` },
      { cause: error },
    );
  }
}
