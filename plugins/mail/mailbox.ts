/** One mailbox: it is read when its server rings and at least every `pollSeconds`, each mail is handed over once, and an outage only delays. */
import { setImmediate } from "node:timers/promises";
import type { PluginHost } from "service-gateway/sdk";
import { createDrafts } from "./drafts.ts";
import { handOver, type MailboxName, record } from "./handover.ts";
import { type Condition, createHealth, well } from "./health.ts";
import { createLedger, type Progress } from "./ledger.ts";
import { createNotices } from "./notices.ts";
import type { MailboxSettings } from "./settings.ts";
import { type Found, type Mail, type MailSource, type NoticeStatus, SourceError } from "./source.ts";
import { createRings, loginOf, pause, untilOther } from "./waits.ts";

export interface WatchedMailbox {
  /**
   * `lastMail`, `lastSync`: epoch milliseconds; absent: not since the start of the process. `expires`: when the server stops to announce mail.
   */
  status(): Condition & { readonly lastMail?: number; readonly lastSync?: number; readonly expires?: number };
  /** A run has ended, of this mailbox or another one. */
  settled(eventId: string): void;
  /** Resolves when nothing of it goes on. */
  close(): Promise<void>;
}

const hourMs = 3_600_000;
const longestBackOffMs = 300_000;
const maxRefusedLogins = 3;
const maxTries = 3;
const lookedUpAtOnce = 500;

export function watchMailbox(
  host: Pick<PluginHost, "hook" | "hookResult" | "receive" | "store" | "log" | "now" | "notifyOwner">,
  mailbox: MailboxName,
  settings: MailboxSettings,
  source: MailSource,
): WatchedMailbox {
  const health = createHealth(host, mailbox);
  const ledger = createLedger(host, mailbox.source, mailbox.account);
  const notices = createNotices(host, mailbox);
  let lastSync = host.now();
  const latest: { lastMail?: number; lastSync?: number } = {};
  const closing = new AbortController();
  const rings = createRings(closing.signal);
  source.doorbell(rings.ring);
  const draftRings = createRings(closing.signal);
  const { draft: folder } = source;
  const drafts =
    settings.reply === "draft" && folder !== undefined ? createDrafts(host, mailbox, { folder, maxBytes: settings.maxBytes }) : undefined;
  /** When mails of the last hour were handed over. */
  let recent: number[] = [];
  /** How often each mail could not be read, and how often its mapping failed. */
  const unread = new Map<string, number>();
  const refusedByMapping = new Map<string, number>();

  async function begin(): Promise<Progress> {
    const known = await ledger.progress();
    if (known !== undefined) return known;
    const at = host.now();
    const since = await ledger.start();
    const progress =
      since === undefined
        ? { cursor: await source.baseline(), lastMail: at, lastSync: at }
        : { cursor: {}, lastMail: since, lastSync: at, since };
    await ledger.advance(progress);
    if (since !== undefined) await ledger.setStart(undefined);
    return progress;
  }

  /** Resolves with how long to wait before the next look, in milliseconds. */
  async function sync(): Promise<number> {
    let progress = await begin();
    lastSync = progress.lastSync;
    const changes = await source.changesSince(progress.cursor, progress);
    const { maxCatchUp, maxPerHour, pollSeconds } = settings;
    const wasAway = host.now() - Math.max(progress.lastSync, progress.pausedUntil ?? 0) > hourMs;
    let found = await unknownOf(changes.found);
    if (wasAway && found.length > maxCatchUp) {
      const left = found.slice(0, found.length - maxCatchUp);
      progress = await leaveOut(progress, left);
      found = found.slice(left.length);
    }
    for (const one of found) {
      if (closing.signal.aborted) return 0;
      recent = recent.filter((at) => at > host.now() - hourMs);
      const [oldest] = recent;
      if (recent.length >= maxPerHour && oldest !== undefined) {
        health.set({
          state: "paused",
          reason: `${maxPerHour} mails came within an hour; the others wait.`,
          fix: "Raise maxPerHour of the mailbox if so many are meant to run.",
        });
        const pausedUntil = oldest + hourMs;
        // Mails that only wait for their hour are not left out afterwards.
        await ledger.advance({ ...progress, pausedUntil });
        return pausedUntil - host.now();
      }
      const handled = await take(one, progress);
      if (handled) {
        latest.lastMail = host.now();
        recent.push(latest.lastMail);
      }
      progress = await advance(progress, [one], handled);
    }
    lastSync = host.now();
    latest.lastSync = lastSync;
    await ledger.advance({ cursor: changes.next, lastMail: progress.lastMail, lastSync });
    health.set(conditionOf(source.notices?.()));
    return Math.min(changes.again ?? Number.POSITIVE_INFINITY, pollSeconds * 1_000);
  }

  async function unknownOf(found: readonly Found[]): Promise<readonly Found[]> {
    const unknown: Found[] = [];
    for (let at = 0; at < found.length; at += lookedUpAtOnce) {
      // Ten thousand at once would hold the event loop up.
      if (at > 0) await setImmediate();
      const some = found.slice(at, at + lookedUpAtOnce);
      const known = await Promise.all(some.map(({ id }) => ledger.knows(id)));
      unknown.push(...some.filter((_, index) => known[index] !== true));
    }
    return unknown;
  }

  async function leaveOut(progress: Progress, left: readonly Found[]): Promise<Progress> {
    const key = `mail:${mailbox.source}:${mailbox.account}:left-out:${left[0]?.id}:${left.length}`;
    await record(host, mailbox, { code: "mail_left_out", key, detail: `${left.length} older mails were left out.` });
    // A source may find them again.
    await Promise.all(left.map((one) => ledger.note(one)));
    return advance(progress, left, false);
  }

  async function advance(progress: Progress, handled: readonly Found[], isMail: boolean): Promise<Progress> {
    const cursor = Object.assign({}, progress.cursor, ...handled.map(({ next }) => next));
    const next = { ...progress, cursor, ...(isMail ? { lastMail: host.now() } : {}) };
    await ledger.advance(next);
    return next;
  }

  /** Whether it was handed over now: not when it is gone, is older than wanted, or was handled under another number. */
  async function take({ id, renumbered }: Found, { since = 0 }: Progress): Promise<boolean> {
    const mail = await read(id);
    // A source searches by day.
    if (mail === undefined || Date.parse(mail.date ?? "") < since) return false;
    if (renumbered && (await ledger.knows(id, mail.messageId))) return false;
    const isNew = await give(mail);
    await ledger.note(mail);
    unread.delete(id);
    refusedByMapping.delete(id);
    return isNew;
  }

  /** Less of a mail is read where its structure is too large, or it could not be read several times. */
  async function read(id: string): Promise<Mail | undefined> {
    const failed = unread.get(id) ?? 0;
    try {
      return await source.fetch(id, failed < maxTries ? "whole" : failed < 2 * maxTries ? "envelope" : "nothing");
    } catch (error) {
      const tooLarge = error instanceof SourceError && error.kind === "too_large";
      unread.set(id, tooLarge ? (failed < maxTries ? maxTries : 2 * maxTries) : failed + 1);
      // Of what is too large less is asked for at once, until nothing is asked for.
      if (tooLarge && failed < 2 * maxTries) return read(id);
      throw error;
    }
  }

  /** A mail that only its mapping cannot take, several times, holds up no other: each try is kept as a failed event, to be replayed. */
  async function give(mail: Mail): Promise<boolean> {
    try {
      const { eventId, duplicate } = await handOver(host, mail, { mailbox, settings });
      // Also of a duplicate: the process may have ended in between.
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

  /** The next look tries again what could not be stored now. */
  const tellOwner = () =>
    notices.follow(health.current(), lastSync).catch((error: unknown) => {
      host.log.warn({ ...mailbox, error: String(error) }, "the owner could not be written to about a mailbox");
    });

  /** The next look tries again what could not be stored now. */
  async function writeDrafts(): Promise<void> {
    draftRings.heard();
    try {
      await drafts?.write();
    } catch (error) {
      if (closing.signal.aborted) return;
      const { message, fix } = faultOf(error);
      host.log.warn({ ...mailbox, error: message, hint: fix }, "a draft could not be stored; it is tried again");
    }
  }

  /** Runs that go on meanwhile may end with a draft. */
  async function waitPaused(until: number): Promise<void> {
    while (!closing.signal.aborted && host.now() < until) {
      const again = drafts === undefined ? longestBackOffMs : settings.pollSeconds * 1_000;
      await draftRings.wait(Math.min(until - host.now(), again));
      await writeDrafts();
    }
  }

  async function run(): Promise<void> {
    let refusedLogins = 0;
    let outages = 0;
    while (!closing.signal.aborted) {
      rings.heard();
      let wait: number;
      const login = await loginOf(source);
      try {
        wait = await sync();
        refusedLogins = 0;
        outages = 0;
        await tellOwner();
        await writeDrafts();
      } catch (error) {
        if (closing.signal.aborted) return;
        const fault = faultOf(error);
        if (fault.kind === "login") refusedLogins += 1;
        if (fault.kind === "revoked") refusedLogins = maxRefusedLogins;
        outages += 1;
        const state = fault.kind === "setup" ? "needs_setup" : refusedLogins >= maxRefusedLogins ? "needs_login" : "retrying";
        health.set({ state, reason: fault.message, fix: fault.fix });
        await tellOwner();
        if (state === "needs_login") {
          await untilOther(login, source, closing.signal);
          refusedLogins = 0;
          continue;
        }
        const longest = Math.min(longestBackOffMs, 1_000 * 2 ** Math.min(outages - 1, 10));
        // Mailboxes that were cut at once do not all come back at once.
        await pause(Math.max(fault.retryAfterMs, longest * (0.5 + (host.now() % 1_000) / 2_000)), closing.signal);
        continue;
      }
      // While mails wait for their hour a ring changes nothing.
      if (health.current().state === "paused") await waitPaused(host.now() + wait);
      else await rings.wait(wait);
    }
  }

  const running = run();
  return {
    status() {
      const { expires } = source.notices?.() ?? {};
      return { ...health.current(), ...latest, ...(expires === undefined ? {} : { expires }) };
    },
    settled(eventId) {
      if (drafts?.isWaitingFor(eventId) !== true) return;
      draftRings.ring();
      rings.ring();
    },
    async close() {
      closing.abort();
      source.close();
      await running;
    },
  };
}

const statusOf = (error: unknown) => (error as { readonly status?: number } | null)?.status;
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Not of the whole gateway: without a mapping at the path, or while nothing can be stored, every mail waits. */
function isOfMapping(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status !== 404 && status !== 503;
}

/** From a mapping, a store or a source, as a cause with a cure. */
function faultOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const status = statusOf(error);
  const setup = status !== undefined && status < 500;
  return new SourceError(
    setup ? "setup" : "outage",
    `A mail could not be handed over: ${messageOf(error)}`,
    setup ? "Check the mapping of this path and hooks.allowedSessionKeyPrefixes; the mail waits." : "It is tried again by itself.",
  );
}

/** Of a mailbox that was just read. */
function conditionOf({ fault }: NoticeStatus = {}): Condition {
  if (fault === undefined) return well;
  const state = fault.kind === "outage" ? "retrying" : "needs_setup";
  return { state, reason: `Mail is found by polling only: ${fault.message}`, fix: fault.fix };
}
