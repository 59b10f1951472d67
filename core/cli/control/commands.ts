/** The commands for a running gateway: `stop`, `restart`, `reload`. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import type { Add, Handle } from "../declare.ts";

export function addControl(program: Command, add: Add, handle: Handle): void {
  add(program, "stop", {
    summary: "Stop the gateway and wait until it has exited. Running work is finished or returned to the queue.",
    example: `${programCommand} stop`,
    json: true,
  }).action(handle(async () => (await import("./stop.ts")).stopGateway));
  add(program, "restart", {
    summary:
      "Restart the gateway under the same process id. Rejected while the configuration is invalid or its " +
      "port is in use.",
    example: `${programCommand} restart`,
    json: true,
  }).action(handle(async () => (await import("./restart.ts")).restartGateway));
  add(program, "reload", {
    summary:
      "Reload the configuration now and report the result. Edits are also detected automatically. Exits " +
      "with 1 on errors.",
    example: `${programCommand} reload`,
    json: true,
  }).action(handle(async () => (await import("./reload.ts")).reloadGateway));
  add(program, "console", {
    summary: "Open the console in a browser, by a link that works once. Also lists and revokes sessions of browsers.",
    example: ["console", "console --role view --no-open", "console --list"]
      .map((line) => `${programCommand} ${line}`)
      .join("\n"),
    json: true,
  })
    .addOption(
      new Option("--role <role>", "what the session may do: look, also run events again, or everything")
        .choices(["view", "operate", "admin"])
        .default("admin"),
    )
    .option("--no-open", "only print the link")
    .option("--list", "list the sessions of browsers")
    .option("--revoke <session>", "end a session")
    .action(handle(async () => (await import("../console.ts")).openConsole));
}
