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
  /** Removes it. Resolves with the path of the file, if it is known. */
  remove(key: string): Promise<string | undefined>;
  /** Resolves when it is flushed to the disk. `path`: the file, which is removed with the person. */
  set(key: string, transcribed: Transcribed, path: string | undefined): Promise<void>;
}

export function createTranscripts({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "set" | "delete">;
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
      const stored = (await store.get(namespace, key)) as Transcribed | null;
      return stored === null ? undefined : { text: stored.text, by: stored.by };
    },
    async remove(key) {
      const stored = (await store.get(namespace, key)) as { readonly path?: string } | null;
      if (stored !== null) await store.delete(namespace, key);
      return stored?.path;
    },
    set: (key, { text, by }, path) =>
      store.set(namespace, key, { text, by, ...(path !== undefined && { path }) } satisfies Json, {
        expiresAt: now() + keepMs,
        durable: true,
      }),
  };
}
