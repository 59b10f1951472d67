/** The commands of `plugins`. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle } from "../declare.ts";
import type { PluginKind, Transport } from "./plugin-template.ts";

export const pluginKinds: readonly PluginKind[] = ["channel", "engine", "preset", "plugin", "transform"];

const transports: readonly Transport[] = ["poll", "lines"];

export function addPluginCommands(program: Command, add: Add, handle: Handle): void {
  const plugins = group(program, "plugins", "Add, create, list and check plugins.", `${programCommand} plugins list`);
  addInstalling(plugins, add, handle);
  add(plugins, "create <name>", {
    summary:
      "Write a package for a new plugin, with tests that pass: declaration, options, contract test, README and CI.",
    example:
      `${programCommand} plugins create acme-chat --kind channel\n${programCommand} plugins create ` +
      `acme-lines --kind channel --transport lines\n${programCommand} plugins create acme-alerts ` +
      "--kind preset --dir ~/plugins/alerts",
    json: true,
  })
    .addOption(new Option("--kind <kind>", "what it is").choices(pluginKinds).makeOptionMandatory())
    .addOption(
      new Option(
        "--transport <transport>",
        "how a channel reaches its platform: HTTP requests (poll, the default) or a connection of lines",
      ).choices(transports),
    )
    .option("--dir <directory>", "folder to write into, new or empty (default: ./<name>)")
    .action(handle(async () => (await import("./plugin-create.ts")).createPlugin, { looks: false }));
  add(plugins, "list", {
    summary: "List plugins, their hooks, and why one is not loaded.",
    example: `${programCommand} plugins list`,
    json: true,
  }).action(handle(async () => (await import("./plugins.ts")).listPlugins));
  add(plugins, "check [plugin]", {
    summary:
      "Check a plugin in a folder, package or tarball (default: this folder): its declaration, options, contract, " +
      "package and licences, and whether it starts in a separate gateway. Exits with 1 when there is an " +
      "error.",
    example:
      `${programCommand} plugins check ./acme-chat\n${programCommand} plugins check ` +
      `./acme-chat-1.0.0.tgz\n${programCommand} plugins check ./tally ` +
      `--options '{ "hidden": ["secret"] }'\n${programCommand} plugins check --strict --sarif > ` +
      "check.sarif",
    json: true,
  })
    .addOption(new Option("--sarif", "print SARIF 2.1.0, for the checks of a code host").conflicts("json"))
    .option("--strict", "exit with 1 on warnings too")
    .option("--options <json>", "the value of plugins.entries.<id>.options")
    .action(handle(async () => (await import("./check/plugin-check.ts")).checkPlugin, { looks: false }));
}

function addInstalling(plugins: Command, add: Add, handle: Handle): void {
  add(plugins, "add <package>", {
    summary:
      "Install a plugin from the registry of npm, a folder or a tarball beside the configuration, check it, and name " +
      "it in plugins.load. Install scripts never run. A newer version replaces the one before.",
    example:
      `${programCommand} plugins add acme-chat\n${programCommand} plugins add @acme/chat@1.2.0 --yes\n` +
      `${programCommand} plugins add ./acme-chat-1.2.0.tgz --dry-run`,
    json: true,
  })
    .option("-y, --yes", "run its code and add it without a question")
    .option("--dry-run", "show what it is, without running its code")
    .action(handle(async () => (await import("./install/plugin-add.ts")).addPlugin));
  add(plugins, "remove <plugin>", {
    summary: "Remove a plugin that was added, from plugins.load and from the disk. Lists what still names it.",
    example: `${programCommand} plugins remove acme-chat`,
    json: true,
  }).action(handle(async () => (await import("./install/plugin-remove.ts")).removePlugin));
  add(plugins, "outdated", {
    summary: "List the plugins that were added, and the newer versions that the registry of npm has.",
    example: `${programCommand} plugins outdated`,
    json: true,
  }).action(handle(async () => (await import("./install/plugin-outdated.ts")).listOutdated));
}
