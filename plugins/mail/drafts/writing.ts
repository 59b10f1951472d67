/** Writes drafts when their runs have ended: at each look, and while the mailbox is paused. */
import type { PluginHost } from "service-gateway/sdk";
import { faultOf } from "../faults.ts";
import type { MailboxName } from "../handover.ts";
import { createRings } from "../waits.ts";
import type { Drafts } from "./drafts.ts";

export interface DraftWriting {
  /** Stores the drafts that are due. A failed one is retried at the next look. */
  write(): Promise<void>;
  /** Waits until `until` (epoch milliseconds), and writes drafts meanwhile, because runs may end with one. */
  waitUntil(until: number): Promise<void>;
  /** True if a draft waits for this run. */
  settled(eventId: string): boolean;
}

/** The clock may be set, and a machine that slept wakes late: so often the time is looked at again. */
const longestWaitMs = 30_000;

export function createDraftWriting(
  host: Pick<PluginHost, "log" | "now">,
  mailbox: MailboxName,
  {
    drafts,
    pollSeconds,
    signal,
  }: { readonly drafts: Drafts | undefined; readonly pollSeconds: number; readonly signal: AbortSignal },
): DraftWriting {
  const rings = createRings(signal);

  async function write(): Promise<void> {
    rings.heard();
    try {
      await drafts?.write();
    } catch (error) {
      if (signal.aborted) return;
      const { message, fix } = faultOf(error);
      host.log.warn({ ...mailbox, error: message, hint: fix }, "a draft could not be stored; it is retried");
    }
  }

  return {
    write,
    async waitUntil(until) {
      while (!signal.aborted && host.now() < until) {
        await rings.wait(Math.min(until - host.now(), drafts === undefined ? longestWaitMs : pollSeconds * 1_000));
        await write();
      }
    },
    settled(eventId) {
      if (drafts?.isWaitingFor(eventId) !== true) return false;
      rings.ring();
      return true;
    },
  };
}
