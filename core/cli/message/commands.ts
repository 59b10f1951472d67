/** The commands of `message`: an agent's chat actions, by hand or from a script. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle, wholeNumber } from "../declare.ts";

const say = (line: string): string => `${programCommand} message ${line}`;

export function addMessages(program: Command, add: Add, handle: Handle): void {
  const message = group(
    program,
    "message",
    "Send, change and delete messages as the bot.",
    say('send --target 42 --message "Hello"'),
  );
  const load = async () => await import("./run.ts");
  const common = (command: Command) =>
    command
      .option("--channel <id>", "chat platform; optional if only one is configured")
      .option("--account <id>", "account of the channel (default: its first)")
      .option("--dry-run", "only show what would be done");
  const placed = (command: Command) =>
    common(command).requiredOption("--target <chat>", "chat id, or <chat>:topic:<id>");
  const one = (command: Command) => placed(command).requiredOption("--message-id <id>", "the message");
  const sent = (command: Command) =>
    placed(command)
      .option("--reply-to <id>", "id of the message that this replies to")
      .option("--thread <n>", "topic of the chat")
      .option("--silent", "without a sound");
  const buttons = (command: Command) =>
    command.option("--buttons <json>", 'rows of buttons: [[{ "text": "Yes", "callback_data": "yes" }]]');

  buttons(
    sent(
      add(message, "send", {
        summary:
          "Send a message: text as Markdown, a file, buttons. Without a running gateway it is stored, and " +
          "sent when one runs.",
        example: [
          say('send --target 42 --message "Done."'),
          say("send --target -100123:topic:7 --media ./report.pdf --silent"),
        ].join("\n"),
        json: true,
      }),
    ),
  )
    .option("--message <text>", "the text")
    .option("--media <file>", "a local file, or a public http(s) URL")
    .option("--as-voice", "audio as a voice note")
    .option("--as-video-note", "a video as a round video note")
    .option("--platform <json>", "fields of the platform's own, by channel")
    .action(handle(async () => (await load()).runSend));
  buttons(
    one(
      add(message, "edit", {
        summary:
          "Change the text of a message of the bot. Without --buttons its buttons stay; --buttons [] removes them.",
        example: say('edit --target 42 --message-id 17 --message "Done, really."'),
        json: true,
      }),
    ),
  )
    .requiredOption("--message <text>", "the new text")
    .action(handle(async () => (await load()).runEdit));
  one(
    add(message, "delete", {
      summary: "Delete a message.",
      example: say("delete --target 42 --message-id 17"),
      json: true,
    }),
  ).action(handle(async () => (await load()).runDelete));
  one(
    add(message, "react", {
      summary: "Set the bot's reaction on a message; an empty emoji removes it.",
      example: say("react --target 42 --message-id 16 --emoji 👍"),
      json: true,
    }),
  )
    .requiredOption("--emoji <emoji>", "one emoji")
    .action(handle(async () => (await load()).runReact));
  sent(
    add(message, "sticker", {
      summary: "Send a sticker.",
      example: say("sticker --target 42 --file-id CAACAgIAAx"),
      json: true,
    }),
  )
    .requiredOption("--file-id <id>", "file id of the sticker; sticker-search finds some")
    .action(handle(async () => (await load()).runSticker));
  common(
    add(message, "sticker-search", {
      summary: "Find stickers that the bot has seen, by words or an emoji.",
      example: say('sticker-search --query "laughing cat"'),
      json: true,
    }),
  )
    .requiredOption("--query <text>", "what it should show")
    .option("--limit <number>", "how many at most (default: 5)", wholeNumber)
    .action(handle(async () => (await load()).runStickerSearch));
}
