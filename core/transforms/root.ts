/**
 * Containment: decides which files may be transforms. A name is checked as text first, and then again by the real path
 * that it leads to.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { TransformError } from "./error.ts";

/** The directory below that of the configuration file. `hooks.transformsDir` can only name a directory inside it. */
const rootName = "transforms";

export const moduleExtensions: readonly string[] = [".ts", ".mts", ".js", ".mjs"];

/** Whether `path` is `directory` or inside it. Both must be real paths. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The rule that a module's name breaks, or `undefined`. Does not access the file system. */
export function moduleNameProblem(module: unknown): string | undefined {
  if (typeof module !== "string") return "must be a text";
  if (module.trim() === "") return "must not be empty";
  if (module.includes("\0")) return "must not contain a NUL";
  if (module.includes("\\")) return "must not contain a backslash; write / between folders";
  if (/^[a-z][a-z0-9+.-]*:/i.test(module)) return "must be a relative path, not a URL or a drive";
  if (isAbsolute(module)) return "must be a relative path, not an absolute one";
  if (module.startsWith("~")) return 'must not begin with "~"';
  if (module.split("/").includes("..")) return 'must not contain ".."';
  if (!moduleExtensions.includes(extname(module)))
    return `must end in ${moduleExtensions.slice(0, -1).join(", ")} or ${moduleExtensions.at(-1)}`;
  return undefined;
}

/**
 * The directory that contains the transforms. Throws `TransformError` (`refused`) if `transformsDir` leads out of the
 * transforms root, as text or through a symbolic link. The directory need not exist; then its nearest existing ancestor
 * is checked.
 */
export function resolveTransformsRoot({
  configDirectory,
  transformsDir,
}: {
  readonly configDirectory: string;
  readonly transformsDir?: string | undefined;
}): string {
  const base = resolve(configDirectory, rootName);
  if (transformsDir === undefined) return base;
  const say = (why: string) =>
    new TransformError("refused", `hooks.transformsDir is ${JSON.stringify(transformsDir)}, which ${why}`);
  const outside = `lies outside the transforms root ${base}`;
  if (/[\0\\]/.test(transformsDir)) throw say("must not contain a backslash or a NUL");
  if (/^[a-z][a-z0-9+.-]*:/i.test(transformsDir) || transformsDir.startsWith("~")) throw say(outside);
  const directory = resolve(base, transformsDir);
  if (!isInside(base, directory)) throw say(outside);
  const realBase = realOrPlanned(base);
  if (!isInside(realBase, realOrPlanned(directory))) throw say(`${outside}: a symbolic link leads there`);
  return directory;
}

/**
 * The real path. If the path does not exist, the rest is appended to the real path of its nearest existing ancestor.
 */
function realOrPlanned(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOrPlanned(parent), basename(path));
  }
}

/** The real file of a module inside the real root. Throws `TransformError` (`refused`) with the rule that it breaks. */
export function resolveModule(root: string, module: unknown): { readonly realRoot: string; readonly file: string } {
  const problem = moduleNameProblem(module);
  if (problem !== undefined)
    throw new TransformError("refused", `The transform module ${JSON.stringify(module)} ${problem}`);
  const name = String(module);
  const path = join(root, name);
  let realRoot: string;
  let file: string;
  try {
    realRoot = realpathSync(root);
    file = realpathSync(path);
  } catch (cause) {
    throw new TransformError(
      "refused",
      `The transform module ${JSON.stringify(name)} does not exist: there is no file ${path}`,
      { cause },
    );
  }
  if (!isInside(realRoot, file)) {
    throw new TransformError(
      "refused",
      `The transform module ${JSON.stringify(name)} is a symbolic link, or lies behind one, that ends ` +
        `outside the transforms root ${root}`,
    );
  }
  if (!statSync(file).isFile())
    throw new TransformError("refused", `The transform module ${JSON.stringify(name)} is not a file`);
  return { realRoot, file };
}
