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

export function createWriters(store: PluginStore): Writers {
  return {
    remember: (message, writer) => store.set(keyOf(message), writer, { ttlSeconds: keepSeconds }),
    of: async (message) => id(await store.get(keyOf(message))),
  };
}
