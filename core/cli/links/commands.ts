/** The commands of `links`. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, group, type Handle } from "../declare.ts";

export function addLinkCommands(program: Command, add: Add, handle: Handle): void {
  const say = (line: string) => `${programCommand} links ${line}`;
  const links = group(program, "links", "Show and change which ids on several platforms are one person.", say("list"));
  const load = async () => await import("./run.ts");
  add(links, "list", {
    summary: "List the people with several ids, and the requests that wait for a confirmation.",
    example: say("list --json"),
    json: true,
  }).action(handle(async () => (await load()).listLinks));
  add(links, "confirm <code>", {
    summary: "Confirm a request: the two ids share conversations, budgets and the place of reminders, never rights.",
    example: say("confirm K7Q2M9XA"),
    json: true,
  }).action(handle(async () => (await load()).confirmLink));
  add(links, "deny <code>", {
    summary: "Deny a request. The same two ids cannot ask again for a day.",
    example: say("deny K7Q2M9XA"),
    json: true,
  }).action(handle(async () => (await load()).denyLink));
  add(links, "remove <sender>", {
    summary: "Take an id away from its person.",
    example: say("remove CHANNEL:1001"),
    json: true,
  }).action(handle(async () => (await load()).removeLink));
}
