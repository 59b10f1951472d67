/** Declares `init`: the first steps, from nothing to a bot that answers. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import type { Add, Handle } from "../declare.ts";

export function addInit(program: Command, add: Add, handle: Handle): void {
  add(program, "init", {
    summary:
      "Set up a bot, a model and an owner: asks, tries each answer, and writes the configuration. Can be run again. " +
      "Without a terminal, all answers are options.",
    example: [
      `${programCommand} init`,
      `${programCommand} init --yes --token-file ./token --model PROVIDER/MODEL --owner 123456789`,
      `${programCommand} init --yes --model PROVIDER/MODEL --key-file ./key --webhook --json`,
    ].join("\n"),
    json: true,
  })
    .aliases(["setup", "onboard"])
    .option("-y, --yes", "ask nothing: take what the options and the environment contain, and write it")
    .option("--channel <id>", "the channel of the bot, if several channels can be set up")
    .option("--token-file <file>", "a file with the bot's token; - reads standard input")
    .option("--platform-address <url>", "the address of a platform's server of your own")
    .option("--model <name>", "the model that answers, as provider/model")
    .option("--key-file <file>", "a file with the key of the model's provider; - reads standard input")
    .option("--model-address <url>", "the address of the model's server, if its name does not say it")
    .option("--owner <id>", "the owner's id on the platform; without it, the first person whom you approve")
    .option("--webhook", "enable webhooks, with a new token")
    .option("--boot", "install the service that starts the gateway at boot, and start it")
    .action(handle(async () => (await import("./run.ts")).runInit, { looks: false, creates: true }));
}
