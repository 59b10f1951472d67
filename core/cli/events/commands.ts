/** The commands of `events`: what was received, and how it ended. */
import { type Command, Option } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle, sinceForms, wholeNumber } from "../declare.ts";

const say = (line: string): string => `${programCommand} events ${line}`;

export function addEvents(program: Command, add: Add, handle: Handle): void {
  const events = group(program, "events", "List events, such as messages and webhook deliveries.", say("list"));
  add(events, "list", {
    summary: "List events and their outcomes, newest first.",
    example: [
      say("list --chat 1001"),
      say("list --outcome refused --since yesterday"),
      say("list --outcome waiting"),
      say("list --follow --json"),
    ].join("\n"),
    json: true,
  })
    .option("--chat <id>", "only events from or to a chat: its id, optionally as <channel>:<id>")
    .option(
      "--sender <id>",
      "only events of a sender: the id, optionally as <channel>:<id>; known once an event has been parsed",
    )
    .addOption(
      new Option("--outcome <outcome>", "only events with this outcome; waiting: pending events, oldest first").choices(
        ["answered", "silent", "refused", "failed", "waiting"],
      ),
    )
    .option("--since <time>", `only events since this time: ${sinceForms}`)
    .option("-n, --limit <number>", "how many, at most 1000", wholeNumber, 20)
    .option("--all", "include heartbeats")
    .option("-f, --follow", "keep printing events as they end")
    .action(handle(async () => (await import("./list.ts")).listEvents));
  add(events, "retry", {
    summary:
      "Run all failed events that match again, messages of chats too. A chat whose channel is away waits for it.",
    example: [
      say("retry --outcome failed --since 2h --dry-run"),
      say("retry --outcome failed --code model_unreachable --yes"),
    ].join("\n"),
    json: true,
  })
    .addOption(
      new Option("--outcome <outcome>", "only events with this outcome").choices(["failed"]).makeOptionMandatory(),
    )
    .option("--code <code>", "only events that failed for this reason, such as model_unreachable")
    .option("--since <time>", `only events since this time: ${sinceForms}`)
    .option("--channel <id>", "only events from this channel; hooks: only webhooks")
    .option("--yes", "do not ask")
    .option("--dry-run", "only say how many there are")
    .action(handle(async () => (await import("./retry.ts")).retryEvents));
  add(events, "drop", {
    summary: "End the events that wait from and for a channel. Without a running gateway they end at its next start.",
    example: [say("drop --channel matrix --dry-run"), say("drop --channel matrix --account work --yes")].join("\n"),
    json: true,
  })
    .requiredOption("--channel <id>", "the channel")
    .option("--account <id>", "only this account of the channel")
    .option("--yes", "do not ask")
    .option("--dry-run", "only say how many there are")
    .action(handle(async () => (await import("./drop.ts")).dropEvents));
}
