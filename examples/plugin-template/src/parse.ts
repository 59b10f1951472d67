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
  const { id, chat, from, name, text, at } = event;
  if (typeof id !== "number" || typeof chat !== "string" || typeof from !== "string" || typeof text !== "string")
    return undefined;
  if (chat === "" || from === "") return undefined;
  // The bot must not answer itself.
  if (from === bot) return null;
  if (text.trim() === "") return { silent: "no_text" };
  return {
    // A chat with one person. Groups are `{ kind: "group" }`, and `mention` says there whether the bot is addressed.
    chat: { id: chat, kind: "direct" },
    // The id is what the access policy knows a person by: use one that never changes. The name is for people only.
    sender: { id: from, ...(typeof name === "string" ? { name } : {}) },
    text,
    // In milliseconds. Without it, the gateway uses its own clock.
    ...(typeof at === "number" ? { timestamp: at } : {}),
    messageId: String(id),
  };
}
