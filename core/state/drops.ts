/**
 * Drops: an operator ends what waits from and for a channel. The record lies in the store, so that it takes effect
 * whether or not a gateway runs, and the gateway ends each event itself, with its trace.
 */
import type { Store } from "./store.ts";

const namespace = "core:drops";
/** A drop without a running gateway waits for the next start. */
const retentionMs = 7 * 24 * 3_600_000;
/**
 * How long a gateway applies a drop: long enough to look at every event, and no longer, so that an event that is
 * retried later runs.
 */
const appliedMs = 10 * 60_000;

export interface Drop {
  readonly channel: string;
  /** Absent: all accounts of the channel. */
  readonly account?: string;
  /** Events accepted until then are dropped, epoch milliseconds. */
  readonly at: number;
}

export interface Drops {
  /** Reads what operators have asked for. */
  load(): Promise<void>;
  /**
   * Whether an event that was accepted at a time is dropped, because it comes from the account, or its reply goes
   * there.
   */
  cover(place: { readonly channel: string; readonly account: string }, acceptedAt: number): boolean;
}

const keyOf = ({ channel, account }: Omit<Drop, "at">) =>
  JSON.stringify(account === undefined ? [channel] : [channel, account]);

export async function addDrop(store: Pick<Store, "set">, drop: Drop): Promise<void> {
  await store.set(namespace, keyOf(drop), { ...drop }, { expiresAt: drop.at + retentionMs, durable: true });
}

/** Called once the events have ended. */
export async function removeDrop(store: Pick<Store, "delete">, drop: Drop): Promise<void> {
  await store.delete(namespace, keyOf(drop));
}

export function createDrops({
  store,
  now,
}: {
  readonly store: Pick<Store, "list" | "set">;
  readonly now: () => number;
}): Drops {
  let drops: readonly (Drop & { readonly until: number })[] = [];
  return {
    async load() {
      const found = await store.list(namespace);
      drops = found.map(({ value, expiresAt }) => ({
        ...(value as unknown as Drop),
        until: Math.min(now() + appliedMs, expiresAt ?? Number.POSITIVE_INFINITY),
      }));
      for (const { until, ...drop } of drops)
        await store.set(namespace, keyOf(drop), { ...drop }, { expiresAt: until });
    },
    cover({ channel, account }, acceptedAt) {
      if (drops.length === 0) return false;
      const at = now();
      return drops.some(
        (drop) =>
          drop.channel === channel &&
          (drop.account === undefined || drop.account === account) &&
          acceptedAt <= drop.at &&
          at < drop.until,
      );
    },
  };
}
