/** Methods for the command menu, by scope and language. */
import type { Call, Method } from "../core.ts";
import { badRequest } from "../errors.ts";
import { isRecord, jsonOf, type RawParams, textOf } from "../params.ts";
import type { BotCommand } from "../wire.ts";

const plainScopes: ReadonlySet<string> = new Set([
  "default",
  "all_private_chats",
  "all_group_chats",
  "all_chat_administrators",
]);
const chatScopes: ReadonlySet<string> = new Set(["chat", "chat_administrators", "chat_member"]);
const maxMenus = 1000;

/** The key of a menu: scope, chat and person if the scope has them, and language. */
function menuKey(params: RawParams): string {
  const scope = jsonOf(params, "scope", "BotCommandScope") ?? { type: "default" };
  const language = textOf(params, "language_code") ?? "";
  if (language !== "" && !/^[a-z]{2}$/.test(language)) throw badRequest("invalid language code specified");
  if (!isRecord(scope) || typeof scope.type !== "string")
    throw badRequest("can't parse BotCommandScope: expected an Object");
  if (plainScopes.has(scope.type)) return `${scope.type}:${language}`;
  if (!chatScopes.has(scope.type)) throw badRequest("can't parse BotCommandScope: unsupported type specified");
  return `${scope.type}:${textOf(scope, "chat_id") ?? ""}:${textOf(scope, "user_id") ?? ""}:${language}`;
}

function readCommand(value: unknown): BotCommand {
  if (!isRecord(value) || typeof value.command !== "string" || typeof value.description !== "string") {
    throw badRequest("can't parse BotCommand: expected an Object with command and description");
  }
  const command = value.command.replace(/^\//, "");
  const description = value.description.trim();
  if (!/^[a-z0-9_]{1,32}$/.test(command)) throw badRequest("BOT_COMMAND_INVALID");
  if (description.length < 1 || description.length > 256) throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
  return { command, description };
}

const setMyCommands: Method = (call) => {
  const value = jsonOf(call.params, "commands", "commands");
  if (!Array.isArray(value)) throw badRequest("can't parse commands: expected an Array");
  if (value.length > 100) throw badRequest("BOT_COMMANDS_TOO_MUCH");
  const { menus } = call.bot;
  const key = menuKey(call.params);
  const commands = value.map(readCommand);
  if (!menus.has(key) && menus.size >= maxMenus) throw badRequest("BOT_COMMANDS_TOO_MUCH");
  if (commands.length === 0) menus.delete(key);
  else menus.set(key, commands);
  return changed(call);
};

function changed(call: Call): true {
  call.core.emit({ type: "menu", botId: call.bot.user.id });
  return true;
}

const getMyCommands: Method = (call) => call.bot.menus.get(menuKey(call.params)) ?? [];

const deleteMyCommands: Method = (call) => {
  call.bot.menus.delete(menuKey(call.params));
  return changed(call);
};

export const menuMethods = { setMyCommands, getMyCommands, deleteMyCommands };
