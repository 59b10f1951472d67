/** One look at a mailbox: handles new mails in order, within the limits for catching up and for mails an hour. */
import { setImmediate } from "node:timers/promises";
import type { PluginHost } from "service-gateway/sdk";
import { conditionOf } from "./faults.ts";
import { type MailboxName, record } from "./handover.ts";
import type { Health } from "./health.ts";
import { fullUntil, withOneMore } from "./hour.ts";
import type { Ledger, Progress } from "./ledger.ts";
import type { MailboxSettings } from "./settings.ts";
import type { Changes, Found, MailSource } from "./source.ts";
import type { Take } from "./take.ts";

const hourMs = 3_600_000;
/** As many rows of the state are asked for or written together. */
const piece = 500;

/**
 * When to look next: after a time in milliseconds, or at the time (epoch milliseconds) at which waiting mails may run.
 */
export type NextLook = { readonly waitMs: number } | { readonly pausedUntil: number };

const inPieces = (found: readonly Found[]): readonly (readonly Found[])[] =>
  Array.from({ length: Math.ceil(found.length / piece) }, (_, at) => found.slice(at * piece, (at + 1) * piece));

/** While a part of the mailbox cannot be read, older mails of it are still wanted. */
function progressAfter({ lastMail, hour, since }: Progress, { next, fault }: Changes, lastSync: number): Progress {
  const left = fault === undefined || since === undefined ? {} : { since };
  return { cursor: next, lastMail, lastSync, ...left, ...(hour === undefined ? {} : { hour }) };
}

export interface Looks {
  look(): Promise<NextLook>;
  /** When the mailbox was last read to its end, even by an earlier process; epoch milliseconds. */
  lastSync(): number;
  /** What this process has seen; epoch milliseconds. */
  latest(): { readonly lastMail?: number; readonly lastSync?: number };
}

export function createLooks(
  host: Pick<PluginHost, "receive" | "now">,
  mailbox: MailboxName,
  {
    settings,
    source,
    ledger,
    health,
    take,
    signal,
  }: {
    readonly settings: MailboxSettings;
    readonly source: Pick<MailSource, "baseline" | "changesSince" | "newest" | "notices">;
    readonly ledger: Ledger;
    readonly health: Health;
    readonly take: Take;
    readonly signal: AbortSignal;
  },
): Looks {
  const { maxCatchUp, maxPerHour, pollSeconds } = settings;
  let lastSync = host.now();
  /** When this process last handled every mail that it found. */
  let lastLook = 0;
  let latest: ReturnType<Looks["latest"]> = {};

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

  async function unknownOf(found: readonly Found[]): Promise<readonly Found[]> {
    const unknown: Found[] = [];
    for (const some of inPieces(found)) {
      // Ten thousand lookups at once would block the event loop.
      await setImmediate();
      const known = await Promise.all(some.map(({ id }) => ledger.knows(id)));
      unknown.push(...some.filter((_, index) => known[index] !== true));
    }
    return unknown;
  }

  async function leaveOut(progress: Progress, left: readonly Found[]): Promise<Progress> {
    const key = `mail:${mailbox.source}:${mailbox.account}:left-out:${left[0]?.id}:${left.length}`;
    await record(host, mailbox, { code: "mail_left_out", key, detail: `${left.length} older mails were left out.` });
    // A source may find them again. Ten thousand writes at once would hold much memory.
    for (const some of inPieces(left)) await Promise.all(some.map((one) => ledger.note(one)));
    return advance(progress, left);
  }

  /** `mailAt`: when a mail among them was submitted; absent if none was. */
  async function advance(progress: Progress, handled: readonly Found[], mailAt?: number): Promise<Progress> {
    const cursor = Object.assign({}, progress.cursor, ...handled.map(({ next }) => next));
    const next = {
      ...progress,
      cursor,
      ...(mailAt === undefined ? {} : { lastMail: mailAt, hour: withOneMore(progress.hour, mailAt) }),
    };
    await ledger.advance(next);
    return next;
  }

  async function pauseUntil(until: number, progress: Progress): Promise<NextLook> {
    health.set({
      state: "paused",
      reason: `maxPerHour (${maxPerHour}) was reached; further mails wait.`,
      fix: "Raise maxPerHour of the mailbox if that many should run.",
    });
    // Mails that only wait for their hour are not skipped later.
    await ledger.advance({ ...progress, pausedUntil: until });
    return { pausedUntil: until };
  }

  return {
    lastSync: () => lastSync,
    latest: () => latest,
    async look() {
      let progress = await begin();
      lastSync = progress.lastSync;
      const changes = await source.changesSince(progress.cursor, progress);
      if (changes.begun !== undefined) {
        progress = { ...progress, cursor: { ...progress.cursor, ...changes.begun } };
        await ledger.advance(progress);
      }
      const wasAway = host.now() - Math.max(progress.lastSync, progress.pausedUntil ?? 0, lastLook) > hourMs;
      let found = await unknownOf(changes.found);
      if (wasAway && found.length > maxCatchUp) {
        const newest = new Set((await source.newest?.(found, maxCatchUp)) ?? found.slice(found.length - maxCatchUp));
        progress = await leaveOut(
          progress,
          found.filter((one) => !newest.has(one)),
        );
        found = found.filter((one) => newest.has(one));
      }
      for (const one of found) {
        if (signal.aborted) return { waitMs: 0 };
        const now = host.now();
        const until = fullUntil(progress.hour, maxPerHour, now);
        if (until !== undefined) return pauseUntil(until, progress);
        const isMail = await take(one, progress);
        if (isMail) latest = { ...latest, lastMail: now };
        progress = await advance(progress, [one], isMail ? now : undefined);
      }
      lastLook = host.now();
      const { fault } = changes;
      if (fault === undefined) {
        lastSync = lastLook;
        latest = { ...latest, lastSync };
      }
      await ledger.advance(progressAfter(progress, changes, lastSync));
      health.set(conditionOf(fault === undefined ? source.notices?.() : { missing: fault }));
      return { waitMs: Math.min(changes.again ?? Number.POSITIVE_INFINITY, pollSeconds * 1_000) };
    },
  };
}
