/** Watches a mailbox for the gateway while no other process reads it. */
import { once } from "node:events";
import type { PluginHost } from "service-gateway/sdk";
import type { MailboxName } from "./handover.ts";
import { type Condition, createHealth } from "./health.ts";
import { HeldError, type Lease } from "./lease.ts";
import type { WatchedMailbox } from "./mailbox.ts";
import { pause } from "./waits.ts";

/** How soon the gateway notices that the other process has ended, in addition to the time of its lease. */
const lookMs = 2_000;

/** Calls `watch` each time the mailbox becomes free, after closing what `watch` returned before. */
export function watchAlone(
  host: Pick<PluginHost, "log">,
  mailbox: MailboxName,
  { lease, watch }: { readonly lease: Lease; readonly watch: () => WatchedMailbox },
): WatchedMailbox {
  const health = createHealth(host, mailbox);
  const closing = new AbortController();
  let watched: WatchedMailbox | undefined;

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let lost: AbortSignal;
      try {
        lost = await lease.hold();
      } catch (error) {
        health.set(conditionOf(error));
        await pause(lookMs, closing.signal);
        continue;
      }
      watched = watch();
      const ended = AbortSignal.any([lost, closing.signal]);
      if (!ended.aborted) await once(ended, "abort");
      await watched.close();
      watched = undefined;
    }
    await lease.release();
  }

  const running = run();
  return {
    status: () => watched?.status() ?? health.current(),
    settled: (eventId) => watched?.settled(eventId),
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** The owner is not notified of another reader, because a person started it. */
function conditionOf(error: unknown): Condition {
  if (error instanceof HeldError) return { state: "paused", reason: error.message, fix: error.fix };
  const why = error instanceof Error ? error.message : String(error);
  return { state: "retrying", reason: `The lease of the mailbox could not be stored: ${why}`, fix: "It is retried automatically." };
}
