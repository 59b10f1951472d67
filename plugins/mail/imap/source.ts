/** An IMAP mailbox, read over one connection at a time. Nothing in it is changed: folders are opened read-only. */
import type { ImapFlow } from "imapflow";
import type { ImapSettings } from "../settings.ts";
import { type Cursor, type Depth, type Found, type Mail, type MailSource, SourceError } from "../source.ts";
import { connect } from "./connection.ts";
import { answeredIn, withoutStall } from "./deadline.ts";
import { createDraftFolder } from "./drafts.ts";
import { encryptionOf } from "./encryption.ts";
import { faultOf } from "./faults.ts";
import { arrivals, changesIn, confirmGone, endOf, newestOf, type OpenFolder, type Place } from "./folder.ts";
import type { ImapLogin } from "./login.ts";
import { readMail } from "./message.ts";

/** By folder. */
type Places = { [folder: string]: { readonly validity: string; readonly uid: number } };
type Reading<T> = (open: OpenFolder) => Promise<T>;

/** A working server answers at once. */
const answerMs = 3_000;

export function createImapSource(
  account: string,
  settings: ImapSettings,
  {
    login,
    read,
  }: {
    readonly login: ImapLogin;
    /** Returns the text of a file that the configuration names. */
    readonly read: (file: string) => string;
  },
): MailSource {
  const { host, folders, tls } = settings;
  let client: ImapFlow | undefined;
  let closed = false;
  /** What ended the connection; the waiting call only sees that it ended. */
  let limit: unknown;
  let ring = (): void => {};

  /** The connection, known to respond; a new one if it does not. */
  async function connected(): Promise<ImapFlow> {
    if (client?.usable === true && (await answers(client))) return client;
    client?.close();
    client = undefined;
    limit = undefined;
    const encryption = encryptionOf(tls, { host, read });
    const fresh = await login.with((credentials) => connect(settings, { credentials, encryption }));
    // The source was closed while it connected.
    if (closed) fresh.close();
    client = fresh;
    fresh.on("error", (error) => {
      limit ??= error;
    });
    fresh.on("exists", () => ring());
    fresh.on("close", () => {
      if (client === fresh) client = undefined;
      ring();
    });
    return fresh;
  }

  async function inFolder<T>(folder: string, read: Reading<T>): Promise<T> {
    try {
      const open = await connected();
      return await withoutStall({ client: open, host }, openedFor(open, folder, read));
    } catch (error) {
      const cause = faultOf(limit, host);
      throw cause.kind === "too_large" ? cause : faultOf(error, host);
    }
  }

  async function openedFor<T>(open: ImapFlow, folder: string, read: Reading<T>): Promise<T> {
    const lock = await open.getMailboxLock(folder, { readOnly: true });
    try {
      if (open.mailbox === false) throw new SourceError("outage", `${host} closed the folder ${folder}.`, "It is retried automatically.");
      const { uidValidity, uidNext } = open.mailbox as { readonly uidValidity: bigint; readonly uidNext?: number };
      return await read({ client: open, host, account, name: folder, validity: String(uidValidity), next: uidNext });
    } finally {
      lock.release();
    }
  }

  const [first, second] = folders;
  return {
    draft: createDraftFolder({
      host,
      user: settings.user,
      connected,
      settle: async () => void (first !== undefined && (await inFolder(first, async () => {}))),
    }),
    login: login.id,
    async baseline() {
      const cursor: Places = {};
      for (const folder of folders) cursor[folder] = { ...(await inFolder(folder, endOf)) };
      return cursor;
    },
    async changesSince(cursor, { lastMail, since }) {
      const found: Found[] = [];
      const ends: Places = {};
      const asked = { from: since ?? lastMail, isPast: since !== undefined };
      for (const folder of folders) {
        const changes = await inFolder(folder, (open) => changesIn(open, placeIn(cursor, folder), asked));
        found.push(...changes.found);
        if (changes.end !== undefined) ends[folder] = { ...changes.end };
      }
      // The server notifies only about the open folder, so the first one is opened last.
      if (first !== undefined && second !== undefined) await inFolder(first, async () => {});
      const next = Object.assign({}, cursor, ...found.map((one) => one.next), ends);
      // If reading begins in the past, it reaches the end of a folder only once its mails are handled.
      return { found, next, ...(asked.isPast || Object.keys(ends).length === 0 ? {} : { begun: ends }) };
    },
    newest(found, count) {
      const arrivedIn = (folder: string, mails: readonly Found[]) =>
        inFolder(folder, (open) => arrivals(open, uidsOf(mails, account), count));
      return newestOf(
        Map.groupBy(found, ({ id }) => placeOf(id, account).folder),
        { count, arrivedIn },
      );
    },
    async fetch(id, depth: Depth): Promise<Mail | undefined> {
      const { folder, uid, validity } = placeOf(id, account);
      return inFolder(folder, async (open) => {
        if (open.validity !== validity) return undefined;
        const mail = await readMail(open.client, { id, folder, uid, depth, maxBytes: settings.maxBytes });
        return mail ?? confirmGone(open, uid);
      });
    },
    doorbell(rung) {
      ring = rung;
    },
    close() {
      closed = true;
      ring = () => {};
      client?.close();
      client = undefined;
    },
  };
}

async function answers(client: ImapFlow): Promise<boolean> {
  try {
    await answeredIn(answerMs, { client, host: "" }, client.noop());
    return client.usable;
  } catch {
    return false;
  }
}

/** Earlier versions stored no number if the server did not state the next one. */
function placeIn(cursor: Cursor, folder: string): Place | undefined {
  const place = cursor[folder] as unknown as Partial<Place> | undefined;
  return typeof place?.uid === "number" ? (place as Place) : undefined;
}

/** The name of a folder may contain colons. */
function placeOf(id: string, account: string): { readonly folder: string; readonly validity: string; readonly uid: number } {
  const [uid = "", validity = "", ...folder] = id
    .slice(account.length + 1)
    .split(":")
    .reverse();
  return { folder: folder.reverse().join(":"), validity, uid: Number(uid) };
}

const uidsOf = (mails: readonly Found[], account: string) => mails.map(({ id }) => placeOf(id, account).uid);
