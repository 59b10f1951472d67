/** One process at a time reads a mailbox: the gateway, or the command that watches in the foreground. */
import type { PluginHost } from "service-gateway/sdk";
import type { MailboxName } from "./handover.ts";
import { type WatchedMailbox, watchMailbox } from "./mailbox.ts";
import type { MailboxSettings } from "./settings.ts";
import { type MailSource, SourceError } from "./source.ts";

/** How long the lease of a killed process still keeps others away. */
const leaseSeconds = 30;
const renewMs = 10_000;

interface Holder {
  readonly by: "gateway" | "run";
  readonly process: number;
  /** Differs between two leases of one process. */
  readonly id: string;
}

export interface Lease {
  /** Rejects with a `SourceError` while another process has it. */
  hold(): Promise<void>;
  /** Aborted when another process has taken it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

const placeOf = ({ source, account }: MailboxName) => `lease:${source}:${account}`;

/** Whether some process reads the mailbox, or has been killed less than 30 s ago. */
export async function isHeld({ store }: Pick<PluginHost, "store">, mailbox: MailboxName): Promise<boolean> {
  return (await store.get(placeOf(mailbox))) !== null;
}

export function createLease({ store, newId }: Pick<PluginHost, "store" | "newId">, mailbox: MailboxName, by: Holder["by"]): Lease {
  const place = placeOf(mailbox);
  const mine: Holder = { by, process: process.pid, id: newId() };
  const lost = new AbortController();
  let renewing: NodeJS.Timeout | undefined;

  async function take(): Promise<Holder> {
    const change = (found: unknown) => {
      const holder = found as Holder | null;
      // Only one gateway runs on a state, so the lease of another one is that of a process that has ended.
      const isFree = holder === null || holder.id === mine.id || (by === "gateway" && holder.by === "gateway");
      return isFree ? { ...mine } : undefined;
    };
    return (await store.update(place, change, { ttlSeconds: leaseSeconds })) as unknown as Holder;
  }

  async function renew(): Promise<void> {
    // A store that cannot be written for a moment is asked again.
    const holder = await take().catch(() => mine);
    if (holder.id === mine.id) return;
    clearInterval(renewing);
    renewing = undefined;
    lost.abort();
  }

  return {
    lost: lost.signal,
    async hold() {
      if (renewing !== undefined) return;
      const holder = await take();
      if (holder.id !== mine.id) throw heldBy(holder, mailbox.source);
      renewing = setInterval(() => void renew(), renewMs).unref();
    },
    async release() {
      clearInterval(renewing);
      renewing = undefined;
      // Where nothing can be stored it ends by itself.
      await store.update(place, (found) => ((found as Holder | null)?.id === mine.id ? null : undefined)).catch(() => {});
    },
  };
}

function heldBy({ by, process: pid }: Holder, source: string): SourceError {
  return by === "gateway"
    ? new SourceError("outage", `A gateway (process ${pid}) reads this mailbox.`, "Stop it, or set enabled of the mailbox to false.")
    : new SourceError(
        "outage",
        `The command webhooks ${source} run (process ${pid}) reads this mailbox.`,
        "It is read here when that has ended.",
      );
}

/** Watches a mailbox while no other process does. */
export function watchAlone(
  host: Parameters<typeof watchMailbox>[0],
  mailbox: MailboxName,
  settings: MailboxSettings,
  { source, lease }: { readonly source: MailSource; readonly lease: Lease },
): WatchedMailbox {
  const watched = watchMailbox(host, mailbox, settings, {
    ...source,
    async baseline() {
      await lease.hold();
      return source.baseline();
    },
    async changesSince(cursor, before) {
      await lease.hold();
      return source.changesSince(cursor, before);
    },
  });
  return {
    ...watched,
    async close() {
      await watched.close();
      await lease.release();
    },
  };
}
