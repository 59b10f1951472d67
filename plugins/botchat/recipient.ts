/** Resolves recipients as people write them: a chat id, a name, the address of either. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { BotApi } from "./wire/api.ts";

/** The chat id of a recipient; the platform resolves names. Throws `chat_not_found` for anything else. */
export async function resolveRecipient(
  target: string,
  api: () => Promise<BotApi>,
  signal: AbortSignal,
): Promise<string> {
  const bare = target.trim().replace(/^(?:(?:botchat|telegram|tg):)+(?:group:)?/i, "");
  const name = bare.replace(/^(?:https?:\/\/)?t\.me\/(\w{4,32})$/i, "@$1");
  if (/^-?\d{1,20}$/.test(name)) return name;
  if (!/^@\w{4,32}$/.test(name))
    throw new ChannelError("chat_not_found", {
      detail: "a recipient is a numeric chat id, a @name or its t.me address",
    });
  const chat = await (await api()).call("getChat", { chat_id: name }, signal);
  return String(chat.id);
}
