/** The command that runs this program here. Every text that says what to run names it, because `service` is taken on many Linux systems. */
import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, join, sep } from "node:path";
import { product } from "./product.ts";

interface Called {
  /** The module that is asked: source ends in `.ts`. */
  readonly module: string;
  /** Path by which the program was started. */
  readonly script: string | undefined;
  /** The search path of the shell. */
  readonly path: string | undefined;
  readonly windows?: boolean;
}

/** npm and npx put their own directories first in the search path; the user's shell does not have them. */
const ofNpm = (directory: string) => directory.endsWith(join("node_modules", ".bin")) || directory.endsWith("node-gyp-bin");

/** What a person types: `npm run` in a clone, the name of the call when it works in a shell, else the other name, else `npx`. */
export function commandFor({ module, script, path = "", windows = false }: Called): string {
  if (module.endsWith(".ts")) return `npm run -s ${product.command} --`;
  const directories = path.split(delimiter).filter((directory) => directory !== "" && !ofNpm(directory));
  const found = (name: string) =>
    directories.map((directory) => join(directory, windows ? `${name}.cmd` : name)).find((file) => existsSync(file));
  const called = script === undefined ? "" : basename(script);
  if (called === product.command && sameFile(found(called), script)) return called;
  // The package's own name is taken by no other program, so the first one on the path is this one.
  return found(product.packageName) === undefined ? `npx ${product.packageName}` : product.packageName;
}

function sameFile(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && realpathSync(one) === realpathSync(other);
}

const [, script] = process.argv;

/** `service`, `service-gateway`, `npx service-gateway` or `npm run -s service --`. */
export const programCommand = commandFor({ module: import.meta.url, script, path: process.env.PATH, windows: sep === "\\" });
