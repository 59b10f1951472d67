/**
 * What was said in sound files, as the store keeps it: recorded before it is used, so that nothing is transcribed, and
 * paid, twice. A key contains the id of the person who sent the file, by which `privacy erase` finds it.
 */
import { createHash } from "node:crypto";
import type { Inbound, InboundMedia, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { Transcribed } from "./transcribing.ts";

const namespace = "transcripts";
/** Slightly longer than the inbox keeps events, which group chats read again. */
const keepMs = 8 * 24 * 60 * 60_000;

export interface Transcripts {
  keyOf(media: InboundMedia, inbound: Inbound): string;
  get(key: string): Promise<Transcribed | undefined>;
  /** Resolves when it is flushed to the disk. */
  set(key: string, transcribed: Transcribed): Promise<void>;
}

export function createTranscripts({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "set">;
  readonly now: () => number;
}): Transcripts {
  return {
    keyOf({ uniqueId, ref }, { channel, account, sender }) {
      const file = createHash("sha256")
        .update(uniqueId ?? ref)
        .digest("hex")
        .slice(0, 32);
      return [channel, account, sender.id, file].join(":");
    },
    async get(key) {
      return ((await store.get(namespace, key)) ?? undefined) as Transcribed | undefined;
    },
    set: (key, { text, by }) =>
      store.set(namespace, key, { text, by } satisfies Json, { expiresAt: now() + keepMs, durable: true }),
  };
}
