/** The commands for a running gateway: `stop`, `restart`, `reload`. */
import type { Command } from "commander";
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
}
