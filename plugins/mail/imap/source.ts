/** An IMAP mailbox, read over one connection at a time. Nothing in it is changed: folders are opened read-only. */
import type { ImapFlow } from "imapflow";
import type { ImapSettings } from "../settings.ts";
import { type Cursor, type Depth, type Found, type Mail, type MailSource, SourceError } from "../source.ts";
import { connect } from "./connection.ts";
import { answeredIn, withoutStall } from "./deadline.ts";
import { createDraftFolder } from "./drafts.ts";
import { encryptionOf } from "./encryption.ts";
import { faultOf } from "./faults.ts";
import type { ImapLogin } from "./login.ts";
import { readMail } from "./message.ts";

/** How far a folder was read. */
interface Place {
  /** UIDVALIDITY: with another value, ids name other mails. */
  readonly validity: string;
  readonly uid: number;
}

type Reading<T> = (client: ImapFlow, validity: string, next: number) => Promise<T>;

/** A working server answers at once. */
const answerMs = 3_000;
const dayMs = 86_400_000;
const windowSize = 10_000;
const maxWindows = 100;

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
      return await read(open, String(open.mailbox.uidValidity), open.mailbox.uidNext);
    } finally {
      lock.release();
    }
  }

  /** A folder without a place, or one that was recreated, is searched by time, beginning at `from` (epoch milliseconds). */
  async function changesIn(folder: string, cursor: Cursor, from: number): Promise<readonly Found[]> {
    const place = cursor[folder] as unknown as Place | undefined;
    return inFolder(folder, async (open, validity, next) => {
      const renumbered = place === undefined || place.validity !== validity;
      const wanted = renumbered ? [{ since: new Date(from - dayMs) }] : windows(place.uid + 1, next).map((uid) => ({ uid }));
      const uids: number[] = [];
      for (const one of wanted) {
        const found = await open.search(one, { uid: true });
        if (!found) throw new SourceError("outage", `${host} could not search the folder ${folder}.`, "It is retried automatically.");
        for (const uid of found) uids.push(uid);
      }
      // A range to the end includes the last mail even if that is older.
      const fresh = uids.filter((uid) => renumbered || uid > place.uid).sort((a, b) => a - b);
      return fresh.map((uid) => ({ id: idOf({ account, folder, validity, uid }), next: { [folder]: { validity, uid } }, renumbered }));
    });
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
      const cursor: { [folder: string]: { readonly validity: string; readonly uid: number } } = {};
      for (const folder of folders) cursor[folder] = await inFolder(folder, async (_, validity, next) => ({ validity, uid: next - 1 }));
      return cursor;
    },
    async changesSince(cursor, { lastMail, since }) {
      const found: Found[] = [];
      for (const folder of folders) found.push(...(await changesIn(folder, cursor, since ?? lastMail)));
      // The server notifies only about the open folder, so the first one is opened last.
      if (first !== undefined && second !== undefined) await inFolder(first, async () => {});
      return { found, next: Object.assign({}, cursor, ...found.map(({ next }) => next)) };
    },
    async fetch(id, depth: Depth): Promise<Mail | undefined> {
      const place = placeOf(id, account);
      return inFolder(place.folder, (open, validity) =>
        validity === place.validity
          ? readMail(open, { id, folder: place.folder, uid: place.uid, depth, maxBytes: settings.maxBytes })
          : Promise.resolve(undefined),
      );
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

/** Splits a range of numbers so that each answer stays below the limits of a response. The last part has no upper end. */
function windows(first: number, next: number): readonly string[] {
  const count = Math.ceil((next - first) / windowSize);
  // Numbers with gaps that wide are not requested one by one.
  if (count <= 1 || count > maxWindows) return [`${first}:*`];
  return Array.from({ length: count }, (_, at) => {
    const from = first + at * windowSize;
    return `${from}:${at === count - 1 ? "*" : from + windowSize - 1}`;
  });
}

function idOf({
  account,
  folder,
  validity,
  uid,
}: {
  readonly account: string;
  readonly folder: string;
  readonly validity: string;
  readonly uid: number;
}): string {
  return `${account}:${folder}:${validity}:${uid}`;
}

/** The name of a folder may contain colons. */
function placeOf(id: string, account: string): { readonly folder: string; readonly validity: string; readonly uid: number } {
  const [uid = "", validity = "", ...folder] = id
    .slice(account.length + 1)
    .split(":")
    .reverse();
  return { folder: folder.reverse().join(":"), validity, uid: Number(uid) };
}
