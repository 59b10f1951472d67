/** Prints the result of an action for people. */
import type { ActionResult, FoundSticker } from "../../actions/result.ts";
import type { ActionName } from "../../actions/schema.ts";
import { programCommand } from "../../contract/command.ts";
import { visibleLine } from "../../log/visible.ts";
import type { Terminal } from "../output/terminal.ts";
import type { Stored } from "./offline.ts";

type Done = Exclude<ActionResult, { readonly ok: false }> | Stored;

const done: Readonly<Record<ActionName, string>> = {
  send: "Sent",
  edit: "Changed",
  delete: "Deleted",
  react: "Done",
  sticker: "Sent",
  "sticker-search": "Found",
};

export function printResult(action: ActionName, result: Done, terminal: Terminal): void {
  if ("stickers" in result) printStickers(result.stickers, terminal);
  else if ("stored" in result) {
    terminal.line(`No gateway is running. The message is stored, and sent when one runs.`);
    terminal.line(`${programCommand} why ${result.eventId} shows what happened to it.`);
  } else if ("dryRun" in result) printDryRun(action, result, terminal);
  else if ("messageId" in result) {
    const [, ...others] = result.messageIds ?? [];
    const more = others.length === 0 ? "" : `, and ${others.join(", ")}`;
    terminal.line(`${done[action]}: message ${result.messageId} in chat ${result.chatId}${more}.`);
  } else terminal.line(`${done[action]}.`);
}

function printDryRun(
  action: ActionName,
  { chatId, threadId, parts }: Extract<Done, { readonly dryRun: true }>,
  terminal: Terminal,
): void {
  const where = chatId === undefined ? "" : ` in chat ${chatId}${threadId === undefined ? "" : `, topic ${threadId}`}`;
  terminal.line(`Nothing was done. It would ${action}${where}.`);
  for (const { kind, chars } of parts ?? []) terminal.line(`  ${kind}, ${chars} characters`);
}

function printStickers(stickers: readonly FoundSticker[], terminal: Terminal): void {
  if (stickers.length === 0) terminal.line("No sticker that the bot has seen matches.");
  terminal.table(
    stickers.map(({ fileId, emoji = "", setName = "", description }) => [
      fileId,
      emoji,
      visibleLine(setName, 40),
      visibleLine(description, 100),
    ]),
  );
}
