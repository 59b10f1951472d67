/**
 * Changes of the bot's membership: it was added, removed, blocked or got other rights. They get no reply, but are
 * recorded because they change what the bot can do.
 */
import type { Json } from "service-gateway/sdk";
import type { Silent } from "service-gateway/sdk/channel";
import { type Fields, id, record, text } from "./fields.ts";

const gone: ReadonlySet<string> = new Set(["left", "kicked"]);

/** The reason code for the trace, from the bot's previous and current status. */
function changeOf({ chat, old_chat_member: before, new_chat_member: after }: Fields): string {
  const [was, is] = [text(record(before)?.status) ?? "left", text(record(after)?.status) ?? "left"];
  const direct = record(chat)?.type === "private";
  if (gone.has(is)) return direct ? "bot_blocked" : "bot_removed";
  if (gone.has(was)) return direct ? "bot_unblocked" : "bot_added";
  return "bot_rights_changed";
}

export function parseMembership(change: Fields): Silent | undefined {
  return id(record(change.chat)?.id) === undefined ? undefined : { silent: changeOf(change) };
}

/** One line for the operator: who no longer gets replies, or where the bot is now. */
export function membershipLine(update: Json): { readonly chat: string; readonly change: string } | undefined {
  const change = record(record(update)?.my_chat_member);
  const chat = id(record(change?.chat)?.id);
  return change === undefined || chat === undefined ? undefined : { chat, change: changeOf(change) };
}
