/** The commands that a running gateway follows: `stop`, `restart`, `reload`. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import type { Add, Handle } from "../declare.ts";

export function addControl(program: Command, add: Add, handle: Handle): void {
  add(program, "stop", {
    summary: "Stop the gateway: what runs is finished or handed back; resolves when it has ended.",
    example: `${programCommand} stop`,
    json: true,
  }).action(handle(async () => (await import("./stop.ts")).stopGateway));
  add(program, "restart", {
    summary: "Stop the gateway and start it again, under the same process id. Refused while the configuration cannot be used.",
    example: `${programCommand} restart`,
    json: true,
  }).action(handle(async () => (await import("./restart.ts")).restartGateway));
  add(program, "reload", {
    summary: "Read the configuration now, and say what became of it. Edits are followed without it. Exits with 1 when there is an error.",
    example: `${programCommand} reload`,
    json: true,
  }).action(handle(async () => (await import("./reload.ts")).reloadGateway));
}
