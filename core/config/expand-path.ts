import { homedir } from "node:os";
import { resolve as resolvePath } from "node:path";

/** A path of the configuration: `~` is the home, anything relative begins at the config directory. */
export function expandPath(path: string, directory: string, home: string = homedir()): string {
  if (path === "~" || path.startsWith("~/")) return resolvePath(home, path.slice(2));
  return resolvePath(directory, path);
}
