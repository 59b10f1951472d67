/** The package that this program belongs to. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The package's directory, whether the program runs from its source or from `dist`. */
export function packageDirectory(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, "package.json")) && directory !== dirname(directory))
    directory = dirname(directory);
  return directory;
}

/** The first page of the manual, for people who have installed the package and not cloned it. */
export const readme = (): string => join(packageDirectory(), "README.md");

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageDirectory(), "package.json"), "utf8")) as { readonly version: string })
    .version;
}
