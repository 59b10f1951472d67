/** Where this copy of the program came from, because a plugin made by it needs the same copy. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { product } from "../../contract/product.ts";

/**
 * A file that `npm pack` wrote, a folder with the source, or the registry. The last one too where npm has left no
 * record.
 */
export type OwnCopy = { readonly tarball: string } | { readonly folder: string } | "registry";

export function ownCopy(directory: string): OwnCopy {
  const modules = dirname(directory);
  if (basename(modules) !== "node_modules") return { folder: directory };
  const [, file] = /^file:(.+)$/.exec(resolvedBy(modules) ?? "") ?? [];
  const tarball = file === undefined ? "" : resolve(dirname(modules), file);
  return existsSync(tarball) ? { tarball } : "registry";
}

/** From what npm installed the package, as it has recorded. */
function resolvedBy(modules: string): string | undefined {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return undefined;
  const { packages } = JSON.parse(readFileSync(record, "utf8")) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  return packages?.[`node_modules/${product.packageName}`]?.resolved;
}
