/**
 * Reads `commands.json` beside a plugin's module: the plugin's commands, as far as the overview shows them without
 * running its code.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface CommandOutline {
  /** The same as `cli.name` of the plugin. */
  readonly name: string;
  readonly summary: string;
  /** Names of its commands. */
  readonly commands: readonly string[];
  /** Paths of what it declares of the configuration beside its options; see `sectionsOf`. */
  readonly configuration: readonly string[];
}

const textsOf = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];

/** `undefined` if the file is missing or unusable; the plugin itself is then loaded instead. */
export function readOutline(file: string): CommandOutline | undefined {
  try {
    const { name, summary, commands, configuration } = JSON.parse(
      readFileSync(join(dirname(file), "commands.json"), "utf8"),
    ) as Partial<CommandOutline>;
    if (
      typeof name !== "string" ||
      !/^[a-z][a-z0-9-]*$/.test(name) ||
      typeof summary !== "string" ||
      !Array.isArray(commands)
    )
      return undefined;
    return { name, summary, commands: textsOf(commands), configuration: textsOf(configuration) };
  } catch {
    return undefined;
  }
}
