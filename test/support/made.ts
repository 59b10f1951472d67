/**
 * What is made of files alone, such as a bundle, is made once and kept for the runs after it, until one of the files is
 * another.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Runs beside this one may use those of other sources. */
const maxRetained = 4;

/** The files of a path: itself, or all below it. */
function filesOf(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  const below = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  return below.filter((one) => one.isFile()).map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

/** A name for what a thing is made of. */
function fingerprint(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of paths.flatMap(filesOf).sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

function removeOld(cache: string): void {
  const age = (name: string) => statSync(join(cache, name)).mtimeMs;
  const byAge = readdirSync(cache).sort((one, other) => age(other) - age(one));
  for (const name of byAge.slice(maxRetained)) rmSync(join(cache, name), { recursive: true, force: true });
}

/**
 * The directory of a thing that is made of these files and directories: an earlier run has made it, or `make` does,
 * into an empty one.
 */
export async function madeOf(
  name: string,
  of: readonly string[],
  make: (directory: string) => void | Promise<void>,
): Promise<string> {
  const cache = join(root, "node_modules", ".cache", name);
  const directory = join(cache, fingerprint(of));
  if (existsSync(directory)) return directory;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "new-"));
  await make(made);
  try {
    renameSync(made, directory);
  } catch {
    // Another run was first.
    rmSync(made, { recursive: true });
  }
  removeOld(cache);
  return directory;
}
