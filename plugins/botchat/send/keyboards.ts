/**
 * The buttons below the bot's messages. The platform removes them with every edit that does not repeat them, and never
 * reports them.
 */
import type { Json, PluginStore } from "service-gateway/sdk";
import { record } from "../intake/fields.ts";

/** As long as a message is known to be the bot's. */
const ttlSeconds = 30 * 24 * 3_600;

export interface Keyboards {
  /** Stores the buttons below a message; nothing is stored for a message without buttons. */
  keep(chat: string, messageId: string, markup: Json | undefined): Promise<void>;
  /** The buttons below the message; `undefined` if unknown. */
  of(chat: string, messageId: string): Promise<Json | undefined>;
}

export function createKeyboards(store: Pick<PluginStore, "get" | "set" | "delete">): Keyboards {
  const keyOf = (chat: string, messageId: string) => `keyboard:${chat}:${messageId}`;
  return {
    async keep(chat, messageId, markup) {
      if (isEmpty(markup)) await store.delete(keyOf(chat, messageId));
      else await store.set(keyOf(chat, messageId), markup as Json, { ttlSeconds });
    },
    async of(chat, messageId) {
      return (await store.get(keyOf(chat, messageId))) ?? undefined;
    },
  };
}

function isEmpty(markup: Json | undefined): boolean {
  const rows = record(markup)?.inline_keyboard;
  return !Array.isArray(rows) || rows.length === 0;
}
