/** What is stored about a mailbox across restarts: where reading continues, and which mails were handled. */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import type { Hour } from "./hour.ts";
import type { Cursor } from "./source.ts";

/** How long a handled mail is remembered. */
const retentionSeconds = 30 * 86_400;

export interface Progress {
  readonly cursor: Cursor;
  /** When the last mail was handled, in epoch milliseconds; initially, when reading began. */
  readonly lastMail: number;
  /** When the mailbox was last read to its end. */
  readonly lastSync: number;
  /** Absent if no mail was submitted yet. */
  readonly hour?: Hour;
  /** Until when mails wait because of `maxPerHour`; absent if none waits. */
  readonly pausedUntil?: number;
  /** Older mails are not wanted (epoch milliseconds). Only until the mailbox was first read to its end. */
  readonly since?: number;
}

export interface Ledger {
  progress(): Promise<Progress | undefined>;
  advance(progress: Progress): Promise<void>;
  /** Whether the mail was handled, under this id or, with `messageId`, under another one. */
  knows(id: string, messageId?: string): Promise<boolean>;
  note(mail: { readonly id: string; readonly messageId?: string }): Promise<void>;
  /** Since when mails are wanted at the first start, in epoch milliseconds; absent if only later ones are. */
  start(): Promise<number | undefined>;
  setStart(since: number | undefined): Promise<void>;
  /** Removes the reading position. `false` if there was none. */
  forget(): Promise<boolean>;
}

export function createLedger({ store }: Pick<PluginHost, "store">, source: string, account: string): Ledger {
  const place = `mailbox:${source}:${account}`;
  const startPlace = `start:${source}:${account}`;
  const keyOf = (kind: string, name: string) =>
    `${kind}:${source}:${account}:${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
  return {
    progress: async () => ((await store.get(place)) ?? undefined) as unknown as Progress | undefined,
    advance: (progress) => store.set(place, { ...progress }),
    async knows(id, messageId) {
      if ((await store.get(keyOf("mail", id))) !== null) return true;
      return messageId !== undefined && (await store.get(keyOf("message", messageId))) !== null;
    },
    async note({ id, messageId }) {
      const options = { ttlSeconds: retentionSeconds };
      await Promise.all([
        store.set(keyOf("mail", id), true, options),
        messageId === undefined ? undefined : store.set(keyOf("message", messageId), true, options),
      ]);
    },
    start: async () => ((await store.get(startPlace)) ?? undefined) as number | undefined,
    async setStart(since) {
      if (since === undefined) await store.delete(startPlace);
      else await store.set(startPlace, since);
    },
    async forget() {
      const forgotten = [await store.delete(place), await store.delete(startPlace)];
      return forgotten.includes(true);
    },
  };
}
