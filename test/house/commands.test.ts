import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { allCommands, helpOf } from "../support/commands.ts";
import { root } from "./sources.ts";

/** What `--help` prints, without the options that all commands have. */
const ownHelp = (command: Command): string =>
  helpOf(command)
    .replace(/\nGlobal Options:\n(?: .*\n)+/, "")
    .replace(/^ {2}-h, --help.*\n/m, "")
    .replace(/\nOptions:\n(?=\n|$)/, "")
    .replaceAll(programCommand, "service")
    .trim();

/** The first sentence of a command's description. */
const summaryOf = (command: Command): string =>
  (/^.*?[.!?](?=\s|$)/s.exec(command.description())?.[0] ?? command.description()).replace(/\.$/, "");

test("core/cli/COMMANDS.md matches the output of --help; update it with `vitest run test/house -u`", async () => {
  const commands = await allCommands();
  const sections = commands.map(({ name, command }) => `## service ${name}\n\n\`\`\`\n${ownHelp(command)}\n\`\`\`\n`);
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
