/**
 * From an event of the platform to a message. Pure and total: anything may come in, and nothing makes it throw.
 */
import type { Json } from "service-gateway/sdk";
import type { Parsed } from "service-gateway/sdk/channel";
import type { Event } from "./api.ts";

/** The sender of the bot's own messages, which the platform sends to the bot as well. */
const bot = "bot";

export function parse(raw: Json): Parsed {
  const event = (typeof raw === "object" && raw !== null ? raw : {}) as Partial<Event>;
  const { id, chat, from, name, text, at, edits, deletes } = event;
  if (typeof id !== "number" || typeof chat !== "string" || typeof from !== "string" || typeof text !== "string")
    return undefined;
  if (chat === "" || from === "") return undefined;
  // The bot must not answer itself. For this reason, the gateway does not store the event.
  if (from === bot) return { silent: "own_message" };
  // Only a deletion by the writer. Return one by another person, such as a moderator, as `{ silent: "..." }`.
  if (typeof deletes === "number")
    return {
      kind: "delete",
      chat: { id: chat, kind: "direct" },
      sender: { id: from },
      text: "",
      messageId: String(deletes),
    };
  if (text.trim() === "") return { silent: "no_text" };
  return {
    // A chat with one person. Groups are `{ kind: "group" }`, and `mention` says there whether the bot is addressed.
    chat: { id: chat, kind: "direct" },
    // The id is what the access policy knows a person by: use one that never changes. The name is for people only.
    sender: { id: from, ...(typeof name === "string" ? { name } : {}) },
    text,
    // In milliseconds. Without it, the gateway uses its own clock.
    ...(typeof at === "number" ? { timestamp: at } : {}),
    // An edit has the id of the message that it changes, and an event id of its own.
    ...(typeof edits === "number" ? { kind: "edit", messageId: String(edits) } : { messageId: String(id) }),
  };
}
