/** `plugins create`, `plugins list` and `plugins check`. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle } from "../declare.ts";
import { pluginKinds } from "./plugin-kind.ts";

export function addPluginCommands(program: Command, add: Add, handle: Handle): void {
  const plugins = group(program, "plugins", "Create, list and check plugins.", `${programCommand} plugins list`);
  add(plugins, "create <name>", {
    summary: "Write a package for a new plugin, with tests that pass: declaration, options, contract test, README and CI.",
    example: `${programCommand} plugins create acme-chat --kind channel\n${programCommand} plugins create acme-alerts --kind preset --dir ~/plugins/alerts`,
    json: true,
  })
    .addOption(new Option("--kind <kind>", "what it is").choices(pluginKinds).makeOptionMandatory())
    .option("--dir <directory>", "folder to write into, new or empty (default: ./<name>)")
    .action(handle(async () => (await import("./plugin-create.ts")).createPlugin, { looks: false }));
  add(plugins, "list", {
    summary: "List plugins, their hooks, and why one is not loaded.",
    example: `${programCommand} plugins list`,
    json: true,
  }).action(handle(async () => (await import("./plugins.ts")).listPlugins));
  add(plugins, "check <plugin>", {
    summary:
      "Try a folder or package out: whether its plugin comes up, in a gateway of its own that is thrown away. Exits with 1 when it does not.",
    example: `${programCommand} plugins check ./tally\n${programCommand} plugins check ./tally --options '{ "hidden": ["secret"] }'`,
    json: true,
  })
    .option("--options <json>", "the value of plugins.entries.<id>.options")
    .action(handle(async () => (await import("./plugin-check.ts")).checkPlugin, { looks: false }));
}
