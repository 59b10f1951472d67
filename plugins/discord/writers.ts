/** Who wrote a message: the platform does not say so when it is deleted. */
import type { PluginStore } from "service-gateway/sdk";
import { id } from "./fields.ts";

export interface Writers {
  remember(message: string, writer: string): Promise<void>;
  of(message: string): Promise<string | undefined>;
}

/** As long as the gateway can find a message. */
const keepSeconds = 7 * 86_400;
const keyOf = (message: string) => `writer:${message}`;

/** Those of the newest messages, which may be deleted before they are on the disk. */
const mostRemembered = 1_000;

export function createWriters(store: PluginStore): Writers {
  const newest = new Map<string, string>();
  return {
    remember(message, writer) {
      newest.set(message, writer);
      for (const oldest of newest.keys()) {
        if (newest.size <= mostRemembered) break;
        newest.delete(oldest);
      }
      return store.set(keyOf(message), writer, { ttlSeconds: keepSeconds });
    },
    of: async (message) => newest.get(message) ?? id(await store.get(keyOf(message))),
  };
}
