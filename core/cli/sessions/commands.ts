/** The commands of `sessions`: list the conversations, and show what was said. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle, wholeNumber } from "../declare.ts";

const say = (line: string): string => `${programCommand} sessions ${line}`;

export function addSessions(program: Command, add: Add, handle: Handle): void {
  const sessions = group(program, "sessions", "Show, export and delete conversations with agents.", say("list"));
  add(sessions, "list", {
    summary: "List sessions, most recently used first.",
    example: `${say("list")}\n${say("list --limit 100 --json")}`,
    json: true,
  })
    .option("-n, --limit <number>", "how many, at most 1000", wholeNumber, 20)
    .action(handle(async () => (await import("./list.ts")).listSessions));
  add(sessions, "show <session>", {
    summary: "Show the messages of a session. Pass a unique part of its key, or last for the most recently used one.",
    example: ["show last", "show agent:main:main --limit 100", "show agent:main:main --generation 0 --json"]
      .map(say)
      .join("\n"),
    json: true,
  })
    .option("-n, --limit <number>", "number of newest messages; 0: all", wholeNumber, 20)
    .option(
      "--generation <number>",
      "an older conversation of the same key; the first is 0, and /new and /reset start the next",
      wholeNumber,
    )
    .action(handle(async () => (await import("./show.ts")).showSession));
  add(sessions, "export <session>", {
    summary: "Print all messages of a session as JSON, including older conversations of its key.",
    example: `${say("export last > conversation.json")}\n${say("export agent:main:main --out conversation.json")}`,
  })
    .option("--out <file>", "write it to a new file, with mode 0600")
    .action(handle(async () => (await import("./export.ts")).exportSession));
  add(sessions, "delete <session>", {
    summary: "Delete a session, its messages and its settings by its complete key. This cannot be undone.",
    example: `${say("export agent:main:main --out conversation.json")}\n${say("delete agent:main:main")}`,
    json: true,
  }).action(handle(async () => (await import("./delete.ts")).deleteSession));
}
