import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { createTerminal } from "../../core/cli/output/terminal.ts";
import { createProgram } from "../../core/cli/program.ts";
import { programCommand } from "../../core/contract/command.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { read, root, sources } from "./sources.ts";

/** Words that plugins add; each brings its commands when it is asked for. */
const words = sources("plugins/*/commands.json").map(
  (path) => (JSON.parse(read(path)) as { readonly name: string }).name,
);

function newProgram() {
  return createProgram(createTerminal(process), () => {});
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

/** What `--help` prints, without the options that all commands have. */
function helpOf(command: Command): string {
  let text = "";
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 120, getOutHasColors: () => false });
  command.outputHelp();
  const own = text.replace(/\nGlobal Options:\n(?: .*\n)+/, "").replace(/^ {2}-h, --help.*\n/m, "");
  return own
    .replace(/\nOptions:\n(?=\n|$)/, "")
    .replaceAll(programCommand, "service")
    .trim();
}

/** The first sentence of a command's description. */
const summaryOf = (command: Command): string =>
  (/^.*?[.!?](?=\s|$)/s.exec(command.description())?.[0] ?? command.description()).replace(/\.$/, "");

async function allCommands() {
  const builtIn = leavesOf(newProgram().program);
  const added = await Promise.all(
    words.map(async (word) => {
      const home = temporaryDirectory();
      onTestFinished(() => removeDirectory(home));
      const file = join(home, "config.jsonc");
      writeFileSync(file, "{}");
      const { program, addPlugins } = newProgram();
      await addPlugins(["--config", file, "--state", join(home, "state"), word, "--help"]);
      return leavesOf(program).filter(({ name }) => name.startsWith(`${word} `));
    }),
  );
  return [...builtIn, ...added.flat()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

test("core/cli/COMMANDS.md matches the output of --help; update it with `vitest run test/house -u`", async () => {
  const commands = await allCommands();
  const sections = commands.map(({ name, command }) => `## service ${name}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`);
  const page = [
    "# Commands",
    "",
    "Every command with its options, as `--help` prints them. Each also takes `--config FILE` and `--state " +
      "DIRECTORY`; `service --help` says what these mean.",
    "With `--json` a failure is printed as JSON too. Printed JSON has no control, format or tag characters: " +
      "they are escaped, and the value is the same.",
    "Exit codes: 0 done, 1 failed, 2 wrong usage.",
    "",
    "| command | what it does |",
    "| --- | --- |",
    ...commands.map(
      ({ name, command }) => `| [\`service ${name}\`](#service-${name.replaceAll(" ", "-")}) | ${summaryOf(command)} |`,
    ),
    "",
    ...sections,
  ].join("\n");
  await expect(page).toMatchFileSnapshot(join(root, "core", "cli", "COMMANDS.md"));
});
