/** The commands of daily operation: `channels status`, `tokens`, `doctor`. */
import type { Command } from "commander";
import { programCommand } from "../contract/command.ts";
import { type Add, group, type Handle } from "./declare.ts";

export function addOperations(program: Command, add: Add, handle: Handle): void {
  const channels = group(program, "channels", "Look at the accounts of chat platforms.", `${programCommand} channels status --probe`);
  add(channels, "status", {
    summary: "Show each account: its state, its bot, the age of its last contact. Exits with 1 when a probe finds something wrong.",
    example: `${programCommand} channels status\n${programCommand} channels status --probe --json`,
    json: true,
  })
    .option("--probe", "ask the platforms: who the bot is, how it takes in, whether it is in each group that is named by its id")
    .action(handle(async () => (await import("./channels.ts")).showChannels));
  const tokens = group(program, "tokens", "Replace the tokens of the gateway.", `${programCommand} tokens rotate hooks`);
  add(tokens, "rotate <which>", {
    summary: "Replace the token of the webhooks (hooks) or of the management routes (gateway). The old one stays valid for a time.",
    example: `${programCommand} tokens rotate hooks\n${programCommand} tokens rotate hooks --keep 7d\n${programCommand} tokens rotate gateway --keep 0`,
    json: true,
  })
    .option("--keep <time>", "how long the old token stays valid, such as 30m or 7d; 0: not at all", "24h")
    .action(handle(async () => (await import("./tokens.ts")).rotateToken));
  const say = (line: string) => `${programCommand} privacy ${line}`;
  const privacy = group(program, "privacy", "Hand over or erase what is kept of a person.", say("export CHANNEL:1001"));
  add(privacy, "export <sender>", {
    summary: "Print all that is kept of a person as JSON: events, conversations, messages to them, files, pairing, devices.",
    example: `${say("export CHANNEL:1001 > person.json")}\n${say("export 1001 --out person.json")}`,
  })
    .option("--out <file>", "write it to a new file, with mode 0600")
    .action(handle(async () => (await import("./privacy/run.ts")).exportPerson));
  add(privacy, "erase <sender>", {
    summary:
      "Erase everything that is stored about a person, and report what remains and why. This cannot be undone. Exits with 1 while events have not ended.",
    example: `${say("erase CHANNEL:1001 --dry-run")}\n${say("erase CHANNEL:1001")}`,
    json: true,
  })
    .option("--dry-run", "only say what would be erased")
    .action(handle(async () => (await import("./privacy/run.ts")).erasePerson));
  add(program, "doctor", {
    summary: "Look for whatever may be wrong, and say what to do. Exits with 1 when something is wrong that was not mended.",
    example: `${programCommand} doctor\n${programCommand} doctor --fix --dry-run\n${programCommand} doctor --fix`,
    json: true,
  })
    .option("--fix", "mend what needs no decision; the configuration file is copied first")
    .option("--dry-run", "only say what --fix would do")
    .action(handle(async () => (await import("./doctor/run.ts")).runDoctor));
}
