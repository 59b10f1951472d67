/** The commands of `channels`. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle } from "../declare.ts";

export function addChannelCommands(program: Command, add: Add, handle: Handle): void {
  const channels = group(
    program,
    "channels",
    "Show the accounts of chat platforms, and which platforms there are.",
    `${programCommand} channels status --probe`,
  );
  add(channels, "status", {
    summary: "Show the state, bot and last contact of each account. Exits with 1 if a probe finds a problem.",
    example: `${programCommand} channels status\n${programCommand} channels status --probe --json`,
    json: true,
  })
    .option("--probe", "ask the platforms for the bot's identity, how it receives updates and its groups")
    .action(handle(async () => (await import("./status.ts")).showChannels));
  add(channels, "list", {
    summary: "List the channels that this gateway can open: what each can do, what it needs, and how it was tried.",
    example: `${programCommand} channels list\n${programCommand} channels list --available --json`,
    json: true,
  })
    .option("--available", "also those that can be installed")
    .action(handle(async () => (await import("./list.ts")).listChannels));
}
