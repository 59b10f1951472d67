/**
 * The command that runs this program. Texts that tell users what to run contain it, because on many Linux systems
 * `service` is another program.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, join, sep } from "node:path";
import { product } from "./product.ts";

interface Called {
  /** This module's URL. Source files end in `.ts`. */
  readonly module: string;
  /** Path of the script that started the program. */
  readonly script: string | undefined;
  /** The shell's search path. */
  readonly path: string | undefined;
  readonly windows?: boolean;
}

/** Directories that npm and npx add to the search path. The user's shell does not have them. */
const ofNpm = (directory: string) =>
  directory.endsWith(join("node_modules", ".bin")) || directory.endsWith("node-gyp-bin");

/**
 * The command that a person types: `npm run` in a clone; the name used for the call if it works in a shell; else the
 * package name; else `npx`.
 */
export function commandFor({ module, script, path = "", windows = false }: Called): string {
  if (module.endsWith(".ts")) return `npm run -s ${product.command} --`;
  const directories = path.split(delimiter).filter((directory) => directory !== "" && !ofNpm(directory));
  const found = (name: string) =>
    directories.map((directory) => join(directory, windows ? `${name}.cmd` : name)).find((file) => existsSync(file));
  const called = script === undefined ? "" : basename(script);
  if (called === product.command && sameFile(found(called), script)) return called;
  // No other program uses the package's name, so the first match on the path is this one.
  return found(product.packageName) === undefined ? `npx ${product.packageName}` : product.packageName;
}

function sameFile(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && realpathSync(one) === realpathSync(other);
}

const [, script] = process.argv;

/** The command for this process: `service`, `service-gateway`, `npx service-gateway` or `npm run -s service --`. */
export const programCommand = commandFor({
  module: import.meta.url,
  script,
  path: process.env.PATH,
  windows: sep === "\\",
});
