import { homedir } from "node:os";
import { resolve as resolvePath } from "node:path";

/** Resolves a path of the configuration: `~` is the home directory, relative paths start at `directory`. */
export function expandPath(path: string, directory: string, home: string = homedir()): string {
  if (path === "~" || path.startsWith("~/")) return resolvePath(home, path.slice(2));
  return resolvePath(directory, path);
}
