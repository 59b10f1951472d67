/**
 * One process at a time reads a mailbox: a gateway, or the command that watches in the foreground. Which of several
 * gateways it is, the duty of the mailbox decides (`watch-alone.ts`).
 */
import type { PluginHost } from "service-gateway/sdk";
import type { MailboxName } from "./handover.ts";
import { SourceError } from "./source.ts";

/** How long the lease of a killed process blocks others. */
const leaseSeconds = 30;
const renewMs = 10_000;

interface Holder {
  readonly by: "gateway" | "run";
  readonly process: number;
  /** Differs between two leases of one process. */
  readonly id: string;
}

export interface Lease {
  /**
   * Resolves with a signal that aborts when another process has taken the lease. Rejects with `HeldError` while another
   * process holds it.
   */
  hold(): Promise<AbortSignal>;
  release(): Promise<void>;
}

/** Another process reads the mailbox. */
export class HeldError extends SourceError {}

const placeOf = ({ source, account }: MailboxName) => `lease:${source}:${account}`;

/** Whether a process reads the mailbox, or was killed less than 30 s ago. */
export async function isHeld({ store }: Pick<PluginHost, "store">, mailbox: MailboxName): Promise<boolean> {
  return (await store.get(placeOf(mailbox))) !== null;
}

export function createLease(
  { store, newId }: Pick<PluginHost, "store" | "newId">,
  mailbox: MailboxName,
  by: Holder["by"],
): Lease {
  const place = placeOf(mailbox);
  const mine: Holder = { by, process: process.pid, id: newId() };
  let renewing: NodeJS.Timeout | undefined;

  async function take(): Promise<Holder> {
    const change = (found: unknown) => {
      const holder = found as Holder | null;
      // Only the gateway that has the duty asks, so another gateway's lease belongs to one that has ended or lost the
      // duty.
      const isFree = holder === null || holder.id === mine.id || (by === "gateway" && holder.by === "gateway");
      return isFree ? { ...mine } : undefined;
    };
    return (await store.update(place, change, { ttlSeconds: leaseSeconds })) as unknown as Holder;
  }

  async function renew(lost: AbortController): Promise<void> {
    // If the store cannot be written for a moment, the next attempt follows.
    const holder = await take().catch(() => mine);
    if (holder.id === mine.id) return;
    clearInterval(renewing);
    lost.abort();
  }

  return {
    async hold() {
      const holder = await take();
      if (holder.id !== mine.id) throw heldBy(holder, mailbox.source);
      const lost = new AbortController();
      clearInterval(renewing);
      renewing = setInterval(() => void renew(lost), renewMs).unref();
      return lost.signal;
    },
    async release() {
      clearInterval(renewing);
      // If nothing can be stored, the lease expires on its own.
      await store
        .update(place, (found) => ((found as Holder | null)?.id === mine.id ? null : undefined))
        .catch(() => {});
    },
  };
}

function heldBy({ by, process: pid }: Holder, source: string): HeldError {
  return by === "gateway"
    ? new HeldError(
        "outage",
        `A gateway (process ${pid}) reads this mailbox.`,
        "Stop it, or set enabled of the mailbox to false.",
      )
    : new HeldError(
        "outage",
        `\`webhooks ${source} run\` reads this mailbox (process ${pid}).`,
        "The gateway reads it as soon as that process has ended.",
      );
}
