/** Watches a mailbox for the gateway while no other gateway and no other process reads it. */
import { once } from "node:events";
import type { PluginHost } from "service-gateway/sdk";
import type { MailboxName } from "./handover.ts";
import { type Condition, createHealth } from "./health.ts";
import { HeldError, type Lease } from "./lease.ts";
import type { WatchedMailbox } from "./mailbox.ts";
import { pause } from "./waits.ts";

/**
 * How soon the gateway notices that the other process has ended, in addition to the time of its lease, or that it lost
 * the duty itself.
 */
const lookMs = 1_000;

/** Calls `watch` each time the mailbox becomes free, after closing what `watch` returned before. */
export function watchAlone(
  host: Pick<PluginHost, "log" | "takeDuty">,
  mailbox: MailboxName,
  { lease, watch }: { readonly lease: Lease; readonly watch: () => WatchedMailbox },
): WatchedMailbox {
  let health = createHealth(host, mailbox);
  const closing = new AbortController();
  let watched: WatchedMailbox | undefined;

  const takeDuty = () => host.takeDuty(`${mailbox.source}:${mailbox.account}`);

  /** Aborts when another gateway may have the duty. */
  async function loseDuty(lost: AbortController, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await pause(lookMs, ended);
      if (!ended.aborted && !(await takeDuty().catch(() => false))) lost.abort();
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let lost: AbortSignal;
      try {
        if (!(await takeDuty())) {
          health.set(standby);
          await pause(lookMs, closing.signal);
          continue;
        }
        lost = await lease.hold();
      } catch (error) {
        health.set(conditionOf(error));
        await pause(lookMs, closing.signal);
        continue;
      }
      watched = watch();
      const dutyLost = new AbortController();
      const ended = AbortSignal.any([lost, dutyLost.signal, closing.signal]);
      void loseDuty(dutyLost, ended);
      if (!ended.aborted) await once(ended, "abort");
      await watched.close();
      watched = undefined;
      // So that the log says again why the mailbox is not read.
      health = createHealth(host, mailbox);
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

const standby: Condition = {
  state: "standby",
  reason: "Another gateway on the same store reads this mailbox.",
  fix: "",
};

/** The owner is not notified of another reader, because a person started it. */
function conditionOf(error: unknown): Condition {
  if (error instanceof HeldError) return { state: "paused", reason: error.message, fix: error.fix };
  const why = error instanceof Error ? error.message : String(error);
  return {
    state: "retrying",
    reason: `The lease of the mailbox could not be stored: ${why}`,
    fix: "It is retried automatically.",
  };
}
