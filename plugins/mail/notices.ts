/**
 * Notices to the owner about a mailbox: one when the owner has to act, and one when it works again, even across
 * restarts.
 */
import { escapeMarkdown, type PluginHost } from "service-gateway/sdk";
import type { MailboxName } from "./handover.ts";
import type { Condition } from "./health.ts";

/** A longer outage is worth a notice. */
const patienceMs = 3_600_000;

export interface Notices {
  /** `lastSync`: when the mailbox was last read, in epoch milliseconds. */
  follow(condition: Condition, lastSync: number): Promise<void>;
}

export function createNotices(
  { store, notifyOwner, now }: Pick<PluginHost, "store" | "notifyOwner" | "now">,
  mailbox: MailboxName,
): Notices {
  const place = `notice:${mailbox.source}:${mailbox.account}`;
  let written: boolean | undefined;

  return {
    async follow({ state, reason, fix, isRead }, lastSync) {
      written ??= (await store.get(place)) !== null;
      const isLong = state !== "ok" && state !== "standby" && state !== "paused" && now() - lastSync > patienceMs;
      if (!written && (state === "needs_login" || isLong)) {
        const what = isRead === true ? "needs attention" : "is not read";
        written = await notifyOwner(`The mailbox ${mailbox.account} ${what}: ${escapeMarkdown(`${reason} ${fix}`)}`);
        if (written) await store.set(place, true);
      } else if (written && state === "ok") {
        await notifyOwner(`The mailbox ${mailbox.account} is read again.`);
        written = false;
        await store.delete(place);
      }
    },
  };
}
