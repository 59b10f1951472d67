/**
 * What is known of the backups that a gateway makes by itself. It is in the store, because any node may make the next
 * one.
 */
import type { Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

const namespace = "backups";
const key = "nightly";

export interface BackupRecord {
  /** When the last attempt began, in epoch milliseconds. */
  readonly triedAt: number;
  /** Why it failed; absent if it did not. */
  readonly problem?: string;
  /** The last backup that succeeded. */
  readonly last?: { readonly at: number; readonly file: string; readonly bytes: number };
}

/** `undefined` if none was tried. */
export async function readRecord(store: Pick<Store, "get">): Promise<BackupRecord | undefined> {
  const value = await store.get(namespace, key);
  return typeof value === "object" && value !== null && "triedAt" in value
    ? (value as unknown as BackupRecord)
    : undefined;
}

export async function writeRecord(store: Pick<Store, "set">, record: BackupRecord): Promise<void> {
  await store.set(namespace, key, record as unknown as Json);
}

/** The last time of the day `at` (HH:MM) that is not after `now`, in the time zone of the machine. */
export function lastDue(at: string, now: number): number {
  const [hours, minutes] = at.split(":").map(Number);
  const due = new Date(now);
  due.setHours(hours ?? 0, minutes ?? 0, 0, 0);
  if (due.getTime() > now) due.setDate(due.getDate() - 1);
  return due.getTime();
}
