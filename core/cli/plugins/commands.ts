/** `plugins create`, `plugins list` and `plugins check`. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle } from "../declare.ts";
import type { PluginKind, Transport } from "./plugin-template.ts";

export const pluginKinds: readonly PluginKind[] = ["channel", "engine", "preset", "plugin", "transform"];

const transports: readonly Transport[] = ["poll", "lines"];

export function addPluginCommands(program: Command, add: Add, handle: Handle): void {
  const plugins = group(program, "plugins", "Create, list and check plugins.", `${programCommand} plugins list`);
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
      "Check a plugin in a folder or package (default: this folder): its declaration, options, contract, " +
      "package and licences, and whether it starts in a separate gateway. Exits with 1 when there is an " +
      "error.",
    example:
      `${programCommand} plugins check ./acme-chat\n${programCommand} plugins check ./tally ` +
      `--options '{ "hidden": ["secret"] }'\n${programCommand} plugins check --strict --sarif > ` +
      "check.sarif",
    json: true,
  })
    .addOption(new Option("--sarif", "print SARIF 2.1.0, for the checks of a code host").conflicts("json"))
    .option("--strict", "exit with 1 on warnings too")
    .option("--options <json>", "the value of plugins.entries.<id>.options")
    .action(handle(async () => (await import("./check/plugin-check.ts")).checkPlugin, { looks: false }));
}
