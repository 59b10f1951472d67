/** The commands of `events`: what came in, and how it ended. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle, sinceForms, wholeNumber } from "../declare.ts";

const say = (line: string): string => `${programCommand} events ${line}`;

export function addEvents(program: Command, add: Add, handle: Handle): void {
  const events = group(program, "events", "Look at what came in: messages, webhooks, everything.", say("list"));
  add(events, "list", {
    summary: "List events, newest first, with how they ended.",
    example: [
      say("list --chat 1001"),
      say("list --outcome refused --since yesterday"),
      say("list --outcome waiting"),
      say("list --follow --json"),
    ].join("\n"),
    json: true,
  })
    .option("--chat <id>", "only what came from a chat or was sent into it: its id, alone or behind its channel and a colon")
    .option("--sender <id>", "only what a sender did: their id, alone or behind its channel and a colon; known once an event has been read")
    .addOption(
      new Option("--outcome <outcome>", "only what ended so; waiting: what has not ended, the oldest first").choices([
        "answered",
        "silent",
        "refused",
        "failed",
        "waiting",
      ]),
    )
    .option("--since <time>", `only what came since then: ${sinceForms}`)
    .option("-n, --limit <number>", "how many, at most 1000", wholeNumber, 20)
    .option("--all", "also the heartbeats of the gateway itself")
    .option("-f, --follow", "go on with events as they end")
    .action(handle(async () => (await import("./list.ts")).listEvents));
}
