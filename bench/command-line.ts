/** Command-line conventions of the scripts here: `--help`, and one sentence for a usage error. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** Prints the error and ends the process with 2. */
export function mistyped(message: string): never {
  console.error(`error: ${message}; see --help`);
  process.exit(2);
}

export function readCommandLine<Config extends ParseArgsConfig>(
  config: Config,
  help: string,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    console.log(help);
    process.exit(0);
  }
  try {
    return parseArgs<Config>(config);
  } catch (error) {
    // Node's own message goes on with advice about words that begin with a dash.
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    return mistyped(reason);
  }
}

/** Parses a whole number of at least 1. */
export function countOf(flag: string, value: string): number {
  return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : mistyped(`${flag} ${value}: give a whole number from 1 on`);
}
