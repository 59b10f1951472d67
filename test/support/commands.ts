/** Every command of the program, those of plugins included. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { onTestFinished } from "vitest";
import { createTerminal } from "../../core/cli/output/terminal.ts";
import { createProgram } from "../../core/cli/program.ts";
import { read, sources } from "../house/sources.ts";
import { removeDirectory, temporaryDirectory } from "./directory.ts";

/** Words that plugins add; each brings its commands when it is asked for. */
const pluginWords = sources("plugins/*/commands.json").map(
  (path) => (JSON.parse(read(path)) as { readonly name: string }).name,
);

export interface NamedCommand {
  /** All its words, such as `hooks list`. */
  readonly name: string;
  readonly command: Command;
  /** The program that it belongs to. */
  readonly program: Command;
}

/** Commands that do something, with their whole names. Groups only hold others. */
function leavesOf(
  command: Command,
  before: readonly string[] = [],
): readonly { readonly name: string; readonly command: Command }[] {
  return command.commands.flatMap((child) => {
    const name = [...before, child.name()];
    return child.commands.length > 0 ? leavesOf(child, name) : [{ name: name.join(" "), command: child }];
  });
}

export async function allCommands(): Promise<readonly NamedCommand[]> {
  const { program: builtIn } = createProgram(createTerminal(process), () => {});
  const added = await Promise.all(
    pluginWords.map(async (word) => {
      const home = temporaryDirectory();
      onTestFinished(() => removeDirectory(home));
      const file = join(home, "config.jsonc");
      writeFileSync(file, "{}");
      const { program, addPlugins } = createProgram(createTerminal(process), () => {});
      await addPlugins(["--config", file, "--state", join(home, "state"), word, "--help"]);
      return leavesOf(program)
        .filter(({ name }) => name.startsWith(`${word} `))
        .map((leaf) => ({ ...leaf, program }));
    }),
  );
  const own = leavesOf(builtIn).map((leaf) => ({ ...leaf, program: builtIn }));
  return [...own, ...added.flat()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What `--help` prints. */
export function helpOf(command: Command): string {
  let text = "";
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 120, getOutHasColors: () => false });
  command.outputHelp();
  return text;
}
