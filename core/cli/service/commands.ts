/** Declares `service`: the gateway as a service of the operating system, which starts at boot. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle, wholeNumber } from "../declare.ts";

export function addService(program: Command, add: Add, handle: Handle): void {
  const say = (line: string) => `${programCommand} service ${line}`;
  const service = group(program, "service", "Start the gateway at boot, by the operating system.", say("install"));
  service.alias("daemon");
  const load = async () => await import("./run.ts");
  const starts = { looks: false } as const;
  add(service, "install", {
    summary:
      "Install the gateway as a service and start it: systemd, of root for all users and otherwise of the user; " +
      "launchd; a task on Windows. A second call changes nothing.",
    example: [say("install"), say("install --config /etc/service-gateway/config.jsonc"), say("install --print")].join(
      "\n",
    ),
    json: true,
  })
    .option("--print", "only print the file that would be installed")
    .action(handle(async () => (await load()).installService, starts));
  add(service, "uninstall", {
    summary: "Stop the service and remove it. Configuration and state stay.",
    example: say("uninstall"),
    json: true,
  }).action(handle(async () => (await load()).uninstallService, starts));
  add(service, "status", {
    summary: "Show whether the service is installed and runs. Exits with 1 if it does not run.",
    example: say("status"),
    json: true,
  }).action(handle(async () => (await load()).showService, starts));
  add(service, "logs", {
    summary: "Show what the service has printed, such as why it did not start.",
    example: `${say("logs")}\n${say("logs --follow")}`,
  })
    .option("-f, --follow", "keep printing new lines")
    .option("-n, --lines <number>", "number of past lines (default: 100)", wholeNumber)
    .action(handle(async () => (await load()).showServiceLogs, starts));
}
