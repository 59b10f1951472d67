/**
 * One mailbox. It is read when its server announces mail and at least every `pollSeconds`. Each mail is submitted once;
 * an outage only delays it.
 */
import type { PluginHost } from "service-gateway/sdk";
import { createDrafts } from "./drafts/drafts.ts";
import { createDraftWriting } from "./drafts/writing.ts";
import { faultOf } from "./faults.ts";
import type { MailboxName } from "./handover.ts";
import { type Condition, createHealth } from "./health.ts";
import { createLedger } from "./ledger.ts";
import { createLooks } from "./look.ts";
import { createNotices } from "./notices.ts";
import type { MailboxSettings } from "./settings.ts";
import type { MailSource } from "./source.ts";
import { createTake } from "./take.ts";
import { createRings, loginOf, pause, untilOther } from "./waits.ts";

export interface WatchedMailbox {
  /**
   * `lastMail`, `lastSync`: epoch milliseconds; absent if not since the start of the process. `expires`: when the
   * server stops announcing mail.
   */
  status(): Condition & { readonly lastMail?: number; readonly lastSync?: number; readonly expires?: number };
  /** Called when a run has ended, of this mailbox or another one. */
  settled(eventId: string): void;
  /** Resolves when all of its work has ended. */
  close(): Promise<void>;
}

const longestBackOffMs = 300_000;
const maxRefusedLogins = 3;

export function watchMailbox(
  host: Pick<PluginHost, "hook" | "hookResult" | "receive" | "store" | "log" | "now" | "notifyOwner">,
  mailbox: MailboxName,
  settings: MailboxSettings,
  source: MailSource,
): WatchedMailbox {
  const closing = new AbortController();
  const { signal } = closing;
  const health = createHealth(host, mailbox);
  const ledger = createLedger(host, mailbox.source, mailbox.account);
  const notices = createNotices(host, mailbox);
  const rings = createRings(signal);
  source.doorbell(rings.ring);
  const { draft: folder } = source;
  const { pollSeconds, maxBytes, reply } = settings;
  const drafts =
    reply === "draft" && folder !== undefined ? createDrafts(host, mailbox, { folder, maxBytes }) : undefined;
  const writing = createDraftWriting(host, mailbox, { drafts, pollSeconds, signal });
  const take = createTake(host, mailbox, { settings, source, ledger, drafts });
  const looks = createLooks(host, mailbox, { settings, source, ledger, health, take, signal });
  let refusedLogins = 0;
  let outages = 0;

  /** If the notice cannot be stored now, the next look repeats it. */
  const notifyOwner = () =>
    notices.follow(health.current(), looks.lastSync()).catch((error: unknown) => {
      host.log.warn({ ...mailbox, error: String(error) }, "the owner could not be notified about a mailbox");
    });

  /** Reports why a look failed, and waits until the next one is worthwhile. */
  async function recover(error: unknown, login: string | undefined): Promise<void> {
    const fault = faultOf(error);
    if (fault.kind === "login") refusedLogins += 1;
    if (fault.kind === "revoked") refusedLogins = maxRefusedLogins;
    outages += 1;
    const state =
      fault.kind === "setup" ? "needs_setup" : refusedLogins >= maxRefusedLogins ? "needs_login" : "retrying";
    health.set({ state, reason: fault.message, fix: fault.fix });
    await notifyOwner();
    if (state === "needs_login") {
      await untilOther(login, source, signal);
      refusedLogins = 0;
      return;
    }
    const longest = Math.min(longestBackOffMs, 1_000 * 2 ** Math.min(outages - 1, 10));
    // Mailboxes that were cut off together must not all reconnect at the same moment.
    await pause(Math.max(fault.retryAfterMs, longest * (0.5 + (host.now() % 1_000) / 2_000)), signal);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      rings.heard();
      const login = await loginOf(source);
      try {
        const next = await looks.look();
        refusedLogins = 0;
        outages = 0;
        await notifyOwner();
        await writing.write();
        // While mails wait for their hour, a notification changes nothing.
        if ("pausedUntil" in next) await writing.waitUntil(next.pausedUntil);
        else await rings.wait(next.waitMs);
      } catch (error) {
        if (!signal.aborted) await recover(error, login);
      }
    }
  }

  const running = run();
  return {
    status() {
      const { expires } = source.notices?.() ?? {};
      const { state, reason, fix } = health.current();
      return { state, reason, fix, ...looks.latest(), ...(expires === undefined ? {} : { expires }) };
    },
    settled(eventId) {
      if (writing.settled(eventId)) rings.ring();
    },
    async close() {
      closing.abort();
      source.close();
      await running;
    },
  };
}
