/** What the platform saw of the bot: every message, what became of it, and when. */
import type { Platform } from "../../plugins/playground/platform/index.ts";

export interface SeenMessage {
  readonly chat: string;
  readonly id: string;
  readonly at: number;
  /** The bot has edited it, so the gateway knew its id. */
  edited: boolean;
  text: string;
  deleted: boolean;
}

export interface Witness {
  readonly messages: ReadonlyMap<string, SeenMessage>;
  /** Called for each message and each edit of the bot. */
  onBot(listener: () => void): void;
}

export function createWitness(platform: Platform, now: () => number): Witness {
  const messages = new Map<string, SeenMessage>();
  const chats = new Map<string, string>();
  let notify: () => void = () => {};
  platform.on((event) => {
    if (event.type === "call") {
      platform.calls.clear();
      return;
    }
    if (event.type === "delete") {
      const seen = messages.get(`${chats.get(event.room)}:${event.messageId}`);
      if (seen !== undefined) seen.deleted = true;
      return;
    }
    if (event.type !== "message" && event.type !== "edit") return;
    const { message } = event;
    const chat = String(message.chat.id);
    chats.set(event.room, chat);
    if (!message.from.is_bot) return;
    const id = String(message.message_id);
    const text = message.text ?? "";
    const seen = messages.get(`${chat}:${id}`);
    if (seen === undefined) {
      messages.set(`${chat}:${id}`, { chat, id, at: now(), edited: false, text, deleted: false });
    } else {
      seen.text = text;
      seen.edited = true;
    }
    notify();
  });
  return {
    messages,
    onBot(listener) {
      notify = listener;
    },
  };
}
