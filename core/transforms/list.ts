/** Lists the modules of a transforms root, for people. */
import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { extname, join } from "node:path";
import { isInside, moduleExtensions } from "./root.ts";

export interface FoundModule {
  /** The name to use in `transform.module`. */
  readonly module: string;
  /** Why the file cannot be a module, if its path already shows that. */
  readonly problem?: string;
}

const maxFiles = 5_000;

/** The modules, sorted, without packages, type declarations and tests. Empty if the root does not exist. */
export function listModules(root: string): readonly FoundModule[] {
  const found: FoundModule[] = [];
  let realRoot: string;
  try {
    realRoot = realpathSync(root);
  } catch {
    return found;
  }
  const look = (folder: string): void => {
    for (const entry of entriesOf(join(realRoot, folder))) {
      if (found.length >= maxFiles || entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const module = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) look(module);
      else if (isModuleName(entry.name)) found.push({ module, ...problemOf(realRoot, module, entry) });
    }
  };
  look("");
  return found.sort((a, b) => (a.module < b.module ? -1 : 1));
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

const isModuleName = (name: string): boolean =>
  moduleExtensions.includes(extname(name)) && !/\.d\.m?ts$|\.(?:test|spec)\.m?[jt]s$/.test(name);

function problemOf(realRoot: string, module: string, entry: Dirent): { readonly problem?: string } {
  if (!entry.isSymbolicLink()) return {};
  try {
    return isInside(realRoot, realpathSync(join(realRoot, module)))
      ? {}
      : { problem: "is a symbolic link that ends outside the transforms root" };
  } catch {
    return { problem: "is a broken symbolic link" };
  }
}
