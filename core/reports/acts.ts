/** The record of what operators did in the console or over HTTP: who, what and when. It is kept for 90 days. */
import type { Json } from "../contract/types.ts";
import type { Store } from "../state/store.ts";

const namespace = "operator-acts";
const keepMs = 90 * 24 * 3_600_000;
/** Keys sort from the newest to the oldest. */
const lastTime = 9_999_999_999_999;

export interface Act {
  readonly at: number;
  /** The session or the token that acted. */
  readonly by: string;
  /** What was done, such as `pairing_approve`. */
  readonly act: string;
  /** What it was done to, such as an event's id. */
  readonly subject: string;
  /** How it ended; absent while it is under way, and if the gateway ended meanwhile. */
  readonly end?: "done" | "refused" | "failed";
}

/** Resolves with the key of the record when it is on the disk. */
export async function recordAct(store: Pick<Store, "set">, id: string, act: Act): Promise<string> {
  const key = `${String(lastTime - act.at).padStart(13, "0")}:${id}`;
  await store.set(namespace, key, act as unknown as Json, { expiresAt: act.at + keepMs });
  return key;
}

export async function endAct(store: Pick<Store, "update">, key: string, end: NonNullable<Act["end"]>): Promise<void> {
  const at = lastTime - Number(key.slice(0, 13));
  const ended = (act: Json | null) => (act === null ? undefined : ({ ...(act as object), end } as Json));
  await store.update(namespace, key, ended, { expiresAt: at + keepMs });
}

export async function readActs(store: Pick<Store, "list">, limit: number): Promise<readonly Act[]> {
  return (await store.list(namespace, { limit })).map(({ value }) => value as unknown as Act);
}
