/**
 * A Gmail mailbox, read through the REST API. A look lists the history's new mails; a notification only says when to
 * look.
 */
import type { PluginHost } from "service-gateway/sdk";
import type { GmailSettings } from "../settings.ts";
import type { Cursor, Depth, Mail, MailSource } from "../source.ts";
import { createAccess } from "./access.ts";
import { createChangeReader, type GmailCursor, lateMs } from "./changes.ts";
import { createDoorbell } from "./doorbell.ts";
import { isNewer, isWanted } from "./history.ts";
import { readEnvelope, readMessage } from "./message.ts";
import type { Notice } from "./notices.ts";
import type { Push } from "./push.ts";
import { ApiError } from "./request.ts";

export interface GmailSource extends MailSource {
  /** Absent if notifications are not posted to the gateway. */
  readonly push?: Push;
}

/** Looks after a notification or a mail are repeated, because its record, or the next one, may be listed late. */
const lookAgainMs = [3_000, 10_000, 30_000];
const pollWithoutNoticesMs = 30_000;

export function createGmailSource(
  account: string,
  settings: GmailSettings,
  {
    host,
    secret,
    at,
  }: {
    readonly host: Pick<PluginHost, "store" | "now">;
    readonly secret: (value: unknown, key: string) => string;
    /** Path of the settings below `hooks.gmail`: empty, or ending in a dot. */
    readonly at: string;
  },
): GmailSource {
  const { store, now } = host;
  const closing = new AbortController();
  const { signal } = closing;
  const { api, login, open, opened } = createAccess(settings, { store, now, secret, at, signal });
  const changes = createChangeReader({ api, now });
  let ring = (): void => {};
  /** The newest notification, and how many looks have found nothing new since. */
  let announced = "0";
  let looksInVain = lookAgainMs.length;

  function onNotice({ address, historyId }: Notice): void {
    const known = opened()?.address ?? address;
    if (address.toLowerCase() !== known.toLowerCase()) return;
    if (isNewer(historyId, announced)) {
      announced = historyId;
      looksInVain = -1;
    }
    ring();
  }
  const { notices, push } = createDoorbell(account, settings, {
    api,
    store,
    now,
    signal,
    at,
    onNotice,
    onChange: () => ring(),
  });

  async function baseline(): Promise<GmailCursor> {
    const { address, wanted, profile } = await open();
    const began = now();
    const { historyId } = profile ?? (await api.profile());
    return { address, label: wanted.label, began, start: historyId };
  }

  /** How soon to look again, in milliseconds. */
  function pace(hasNew: boolean): number | undefined {
    if (notices === undefined) return undefined;
    const { fault } = notices.status();
    looksInVain = hasNew ? 0 : looksInVain + 1;
    return lookAgainMs[looksInVain] ?? (fault === undefined ? undefined : pollWithoutNoticesMs);
  }

  /** `undefined` if it is gone. */
  async function messageOf(id: string, format: "full" | "metadata") {
    try {
      return await api.message(id, format);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** An empty cursor begins in the past, with mails listed by time. A cursor of another mailbox or label begins now. */
  async function placeOf(stored: Cursor, { address, label, from }: { address: string; label: string; from: number }) {
    const cursor = stored as unknown as Partial<GmailCursor>;
    if (cursor.address === address && cursor.label === label) return { cursor: cursor as GmailCursor, isNew: false };
    const fresh = await baseline();
    if (cursor.address !== undefined) return { cursor: fresh, isNew: true };
    return { cursor: { ...fresh, began: from, relist: { from, until: now() + lateMs } }, isNew: false };
  }

  return {
    login,
    baseline: async () => (await baseline()) as unknown as Cursor,
    async changesSince(stored, before) {
      const { address, wanted } = await open();
      await notices?.keep({ address, label: wanted.label });
      const { cursor, isNew } = await placeOf(stored, {
        address,
        label: wanted.label,
        from: before.since ?? before.lastMail,
      });
      if (isNew) return { found: [], next: cursor as unknown as Cursor };
      const { found, next, hasNew } = await changes.read(cursor, before, wanted);
      const again = pace(hasNew);
      return { found, next, again };
    },
    async fetch(id, depth: Depth): Promise<Mail | undefined> {
      const { address, wanted } = opened() ?? (await open());
      const beside = { account: address, historyId: changes.recordOf(id) };
      if (depth === "nothing") return { ...readEnvelope({ id }), beside, bodyError: "the mail could not be read" };
      const message = await messageOf(id, depth === "whole" ? "full" : "metadata");
      if (
        message === undefined ||
        !isWanted(message.labelIds ?? [], wanted) ||
        !message.labelIds?.includes(wanted.label)
      ) {
        changes.leaveOut(id);
        return undefined;
      }
      if (depth === "envelope")
        return { ...readEnvelope(message), beside, bodyError: "the parts of the mail could not be read" };
      const fetchPart = (part: string) => api.attachment(id, part);
      return { ...(await readMessage(message, { maxBytes: settings.maxBytes, fetchPart })), beside };
    },
    doorbell(rung) {
      ring = rung;
    },
    ...(notices === undefined ? {} : { notices: () => notices.status() }),
    push,
    close() {
      ring = () => {};
      closing.abort();
    },
  };
}
