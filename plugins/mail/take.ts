/**
 * Takes one mail from its source to its mapping. It requests fewer parts if the mail cannot be read, and gives up if it
 * cannot be mapped.
 */
import type { PluginHost } from "service-gateway/sdk";
import type { Drafts } from "./drafts/drafts.ts";
import { isOfMapping, messageOf } from "./faults.ts";
import { handOver, type MailboxName } from "./handover.ts";
import type { Ledger } from "./ledger.ts";
import type { MailboxSettings } from "./settings.ts";
import { type Found, type Mail, type MailSource, SourceError } from "./source.ts";

const maxTries = 3;

/** True if the mail was submitted now; false if it is gone, is older than wanted, or was handled under another id. */
export type Take = (found: Found, limits: { readonly since?: number }) => Promise<boolean>;

export function createTake(
  host: Pick<PluginHost, "hook" | "receive" | "log">,
  mailbox: MailboxName,
  {
    settings,
    source,
    ledger,
    drafts,
  }: {
    readonly settings: MailboxSettings;
    readonly source: Pick<MailSource, "fetch">;
    readonly ledger: Ledger;
    /** Absent if replies do not become drafts. */
    readonly drafts: Pick<Drafts, "expect"> | undefined;
  },
): Take {
  /** How often each mail could not be read, and how often its mapping failed. */
  const unread = new Map<string, number>();
  const refusedByMapping = new Map<string, number>();

  /** Reads less of a mail if its structure is too large, or if it could not be read several times. */
  async function read(id: string): Promise<Mail | undefined> {
    const failed = unread.get(id) ?? 0;
    try {
      return await source.fetch(id, failed < maxTries ? "whole" : failed < 2 * maxTries ? "envelope" : "nothing");
    } catch (error) {
      const tooLarge = error instanceof SourceError && error.kind === "too_large";
      unread.set(id, tooLarge ? (failed < maxTries ? maxTries : 2 * maxTries) : failed + 1);
      // After a mail that was too large, less is requested at once, down to nothing.
      if (tooLarge && failed < 2 * maxTries) return read(id);
      throw error;
    }
  }

  /**
   * A mail whose mapping fails several times must not hold up the others. Each attempt is stored as a failed event that
   * can be replayed.
   */
  async function give(mail: Mail): Promise<boolean> {
    try {
      const { eventId, duplicate } = await handOver(host, mail, { mailbox, settings });
      // Also for a duplicate, because the process may have ended in between.
      await drafts?.expect(mail, eventId);
      return !duplicate;
    } catch (error) {
      const failed = (refusedByMapping.get(mail.id) ?? 0) + 1;
      refusedByMapping.set(mail.id, failed);
      if (!isOfMapping(error) || failed < maxTries) throw error;
      host.log.warn(
        { ...mailbox, mail: mail.id, error: messageOf(error) },
        "a mail failed in its mapping and was given up; replay its event",
      );
      return true;
    }
  }

  return async ({ id, renumbered }, { since = 0 }) => {
    const mail = await read(id);
    // A source can search by whole days only.
    if (mail === undefined || Date.parse(mail.date ?? "") < since) return false;
    if (renumbered && (await ledger.knows(id, mail.messageId))) return false;
    const isNew = await give(mail);
    await ledger.note(mail);
    unread.delete(id);
    refusedByMapping.delete(id);
    return isNew;
  };
}
