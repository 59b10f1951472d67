/** A Gmail mailbox, read by the REST API. A look lists what the history holds; a notice only says when to look. */
import type { PluginHost } from "service-gateway/sdk";
import type { GmailSettings } from "../settings.ts";
import { type Changes, type Cursor, type Depth, type LastRead, type Mail, type MailSource, SourceError } from "../source.ts";
import { type Api, createApi, type Profile } from "./api.ts";
import { createCredentials, identityOf } from "./credentials.ts";
import { createDoorbell } from "./doorbell.ts";
import { candidatesIn, isNewer, isWanted, type Place, placeAfter, type Wanted } from "./history.ts";
import { readEnvelope, readMessage } from "./message.ts";
import type { Notice } from "./notices.ts";
import type { Push } from "./push.ts";
import { ApiError, type Tokens } from "./request.ts";
import { pubsubScope, readScope } from "./scopes.ts";
import { createTokens } from "./tokens.ts";

export interface GmailSource extends MailSource {
  /** Absent: notices are not posted to the gateway. */
  readonly push?: Push;
}

/** What was read of which mailbox, and from where it is read on. */
interface GmailCursor extends Place {
  readonly address: string;
  readonly label: string;
  /** When reading began, epoch milliseconds. */
  readonly began: number;
  /** After a gap in the history, mails are also listed by their time; a list may be late too. */
  readonly relist?: { readonly from: number; readonly until: number };
}

const hourMs = 3_600_000;
const lateMs = 600_000;
/** After a notice, and after a mail: its record, or the next one, may not be listed yet. */
const lookAgainMs = [3_000, 10_000, 30_000];
const pollWithoutNoticesMs = 30_000;
const withoutToken: Tokens = { token: async () => "none" };

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
    /** Path of the settings below `hooks.gmail`; empty, or with its dot. */
    readonly at: string;
  },
): GmailSource {
  const { store, now } = host;
  const closing = new AbortController();
  const { signal } = closing;
  const credentials = createCredentials(settings, { secret, store, at });
  const isService = settings.serviceAccount !== undefined;
  const tokensFor = (scope: string, subject?: string) =>
    createTokens(credentials, { scope, ...(subject === undefined ? {} : { subject }), now, signal });
  // A user's permission holds both scopes; a service account reads as the mailbox, and takes notices as itself.
  const mailTokens = tokensFor(readScope, isService ? settings.account : undefined);
  const noticeTokens = settings.emulator ? withoutToken : isService ? tokensFor(pubsubScope) : mailTokens;
  const api = createApi({ roots: settings.roots, mailTokens, noticeTokens, signal });
  let ring = (): void => {};
  /** The newest notice, and how many looks found nothing new since. */
  let announced = "0";
  let looksInVain = lookAgainMs.length;
  /** Of the mails that were listed: the newest record of each. */
  let listed = new Map<string, string>();
  /** Mails that are gone or no longer wanted, by the record with which they were. */
  let unwanted = new Map<string, string>();
  let opened: { readonly login: string; readonly address: string; readonly wanted: Wanted } | undefined;

  function onNotice({ address, historyId }: Notice): void {
    if (opened !== undefined && address.toLowerCase() !== opened.address.toLowerCase()) return;
    if (isNewer(historyId, announced)) {
      announced = historyId;
      looksInVain = -1;
    }
    ring();
  }
  const { notices, push } = createDoorbell(account, settings, { api, store, now, signal, at, onNotice, onChange: () => ring() });

  const login = async () => identityOf(await credentials.read());

  /** The mailbox that the credentials open, asked for once. */
  async function open(): Promise<{ readonly address: string; readonly wanted: Wanted; readonly profile?: Profile }> {
    if (settings.account === undefined)
      throw new SourceError("setup", `hooks.gmail.${at}account is not set.`, "Set it to the mail address of the mailbox.");
    const current = await login();
    if (opened?.login === current) return opened;
    const profile = await api.profile();
    const address = profile.emailAddress;
    if (address.toLowerCase() !== settings.account.toLowerCase())
      throw new SourceError(
        "setup",
        `The credentials open the mailbox ${address} and not ${settings.account}.`,
        `Correct hooks.gmail.${at}account, or give the permission as ${settings.account}.`,
      );
    opened = { login: current, address, wanted: { label: await labelIdOf(settings.label, api), includeOwn: settings.includeOwn } };
    return { ...opened, profile };
  }

  async function baseline(): Promise<GmailCursor> {
    const { address, wanted, profile } = await open();
    const began = now();
    const { historyId } = profile ?? (await api.profile());
    return { address, label: wanted.label, began, start: historyId };
  }

  /** Mails that came within the last hour before the mailbox was last read to its end, and since. */
  async function listByTime(from: number, wanted: Wanted): Promise<readonly { readonly id: string }[]> {
    return [...(await api.messages(wanted.label, Math.floor(from / 1_000)))].reverse();
  }

  /** The history is gone; where it begins now is asked for first, so that nothing falls in between. */
  async function afterGap(cursor: GmailCursor, { lastSync }: LastRead): Promise<GmailCursor> {
    const { historyId } = await api.profile();
    const { address, label, began } = cursor;
    return { address, label, began, start: historyId, relist: { from: Math.max(began, lastSync - hourMs), until: now() + lateMs } };
  }

  async function look(cursor: GmailCursor, before: LastRead, wanted: Wanted): Promise<Changes> {
    const began = now();
    let place = cursor;
    let history = await historyFrom(api, cursor.start, wanted.label);
    if (history === undefined) {
      place = await afterGap(cursor, before);
      history = { records: [], historyId: place.start };
    }
    const { relist, address, label } = place;
    const candidates = candidatesIn(history.records, wanted);
    const older = relist === undefined ? [] : await listByTime(relist.from, wanted);
    const ids = [...new Set([...older, ...candidates].map(({ id }) => id))];
    const records = new Map(candidates.map(({ id, record }) => [id, record]));
    const hasNew = ids.some((id) => !listed.has(id));
    listed = new Map(ids.map((id) => [id, records.get(id) ?? place.start]));
    unwanted = new Map([...unwanted].filter(([id, record]) => listed.get(id) === record));
    const next = {
      ...{ address, label, began: place.began, ...placeAfter(place, { ...history, began }) },
      ...(relist === undefined || began >= relist.until ? {} : { relist }),
    };
    const again = pace(hasNew);
    return {
      found: ids.filter((id) => !unwanted.has(id)).map((id) => ({ id, renumbered: false })),
      next: next as unknown as Cursor,
      ...(again === undefined ? {} : { again }),
    };
  }

  function pace(hasNew: boolean): number | undefined {
    if (notices === undefined) return undefined;
    const { fault } = notices.status();
    looksInVain = hasNew ? 0 : looksInVain + 1;
    return lookAgainMs[looksInVain] ?? (fault === undefined ? undefined : pollWithoutNoticesMs);
  }

  /** `undefined`: it is gone. */
  async function messageOf(id: string, format: "full" | "metadata") {
    try {
      return await api.message(id, format);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  return {
    login,
    baseline: async () => (await baseline()) as unknown as Cursor,
    async changesSince(stored, before) {
      const cursor = stored as unknown as GmailCursor;
      const { address, wanted } = await open();
      await notices?.keep({ address, label: wanted.label });
      // It is another mailbox or label now: what is in it is not new.
      if (cursor.address !== address || cursor.label !== wanted.label) return { found: [], next: (await baseline()) as unknown as Cursor };
      return look(cursor, before, wanted);
    },
    async fetch(id, depth: Depth): Promise<Mail | undefined> {
      const { address, wanted } = opened ?? (await open());
      const beside = { account: address, historyId: listed.get(id) ?? "" };
      if (depth === "nothing") return { ...readEnvelope({ id }), beside, bodyError: "the mail could not be read" };
      const message = await messageOf(id, depth === "whole" ? "full" : "metadata");
      if (message === undefined || !isWanted(message.labelIds ?? [], wanted) || !message.labelIds?.includes(wanted.label)) {
        unwanted.set(id, listed.get(id) ?? "");
        return undefined;
      }
      if (depth === "envelope") return { ...readEnvelope(message), beside, bodyError: "the parts of the mail could not be read" };
      const fetchPart = (part: string) => api.attachment(id, part);
      return { ...(await readMessage(message, { maxBytes: settings.maxBytes, fetchPart })), beside };
    },
    doorbell(rung) {
      ring = rung;
    },
    ...(notices === undefined ? {} : { notices: () => notices.status() }),
    ...(push === undefined ? {} : { push }),
    close() {
      ring = () => {};
      closing.abort();
    },
  };
}

/** `undefined`: it no longer reaches back so far. */
async function historyFrom(api: Api, start: string, label: string): Promise<Awaited<ReturnType<Api["history"]>> | undefined> {
  try {
    return await api.history(start, label);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

const systemLabel = /^(?:INBOX|STARRED|IMPORTANT|UNREAD|CATEGORY_[A-Z]+)$/;

/** Users know labels by their names, the API by their ids. */
async function labelIdOf(label: string, api: Pick<Api, "labels">): Promise<string> {
  if (systemLabel.test(label)) return label;
  const labels = await api.labels();
  const found = labels.find(({ id, name }) => id === label || name.toLowerCase() === label.toLowerCase());
  if (found === undefined)
    throw new SourceError("setup", `The mailbox has no label ${JSON.stringify(label)}.`, "Correct label, or create it in Gmail.");
  return found.id;
}
