/** An IMAP mailbox, read over one connection at a time. Nothing in it is changed: folders are opened read-only. */
import type { ImapSettings } from "../settings.ts";
import type { Depth, Found, Mail, MailSource } from "../source.ts";
import { createDraftFolder } from "./drafts.ts";
import {
  arrivals,
  beforeFirst,
  changesIn,
  confirmGone,
  endOf,
  MissingFolder,
  newestOf,
  type OpenFolder,
} from "./folder.ts";
import { readMail } from "./message.ts";
import { createOpenFolders, type OpenFoldersOptions } from "./open-folders.ts";
import { type Place, placeOf, placesIn } from "./place.ts";

type ByFolder = { [folder: string]: Place };

export function createImapSource(account: string, settings: ImapSettings, options: OpenFoldersOptions): MailSource {
  const { host, folders } = settings;
  const { connected, inFolder, doorbell, close } = createOpenFolders(account, settings, options);
  const [first, second] = folders;

  /** Reads each folder that the server has. Resolves with the error of each one that is missing. */
  async function inEach(read: (open: OpenFolder) => Promise<void>): Promise<readonly MissingFolder[]> {
    const missing: MissingFolder[] = [];
    for (const folder of folders) {
      try {
        await inFolder(folder, read);
      } catch (error) {
        if (!(error instanceof MissingFolder)) throw error;
        missing.push(error);
      }
    }
    return missing;
  }

  return {
    draft: createDraftFolder({
      host,
      user: settings.user,
      connected,
      settle: async () => void (first !== undefined && (await inFolder(first, async () => {}).catch(unlessMissing))),
    }),
    login: async () => options.login.id(),
    async baseline() {
      const ends: ByFolder = {};
      const missing = await inEach(async (open) => {
        ends[open.name] = await endOf(open);
      });
      // The first look reports it.
      for (const { folder } of missing) ends[folder] = beforeFirst;
      return placesIn({}, settings.user).cursor(ends, folders);
    },
    async changesSince(stored, { lastMail, lastSync, since }) {
      const found: Found[] = [];
      const ends: ByFolder = {};
      const places = placesIn(stored, settings.user);
      // While mails wait for their hour, some are older than the last one that was handled.
      const asked = { from: since ?? Math.min(lastMail, lastSync), isPast: since !== undefined, suffix: places.suffix };
      const missing = await inEach(async (open) => {
        const changes = await changesIn(open, places.of(open.name), asked);
        found.push(...changes.found);
        if (changes.end !== undefined) ends[open.name] = changes.end;
      });
      if (!asked.isPast)
        for (const { folder } of missing) if (places.of(folder) === undefined) ends[folder] = beforeFirst;
      // The server notifies only about the open folder, so the first one is opened last.
      const heard = folders.find((folder) => !missing.some((one) => one.folder === folder));
      if (heard !== undefined && second !== undefined) await inFolder(heard, async () => {});
      const handled = Object.assign({}, ...found.map((one) => one.next)) as ByFolder;
      // A folder that is no longer configured has no place: if it is added again, reading begins then.
      const next = places.cursor({ ...handled, ...ends }, folders);
      // If reading begins in the past, it reaches the end of a folder only once its mails are handled.
      const begun = asked.isPast || Object.keys(ends).length === 0 ? {} : { begun: places.cursor(ends, folders) };
      return { found, next, ...begun, ...(missing[0] === undefined ? {} : { fault: missing[0] }) };
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
    doorbell,
    close,
  };
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof MissingFolder)) throw error;
}

const uidsOf = (mails: readonly Found[], account: string) => mails.map(({ id }) => placeOf(id, account).uid);
