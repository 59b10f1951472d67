/** The folders of the scripted server, and the searches that mailboxes ask for. */
import { headerOf, type StoredMail } from "./imap-mail.ts";

export interface Folder {
  readonly validity: number;
  next: number;
  readonly mails: StoredMail[];
}

export interface Folders {
  get(name: string): Folder | undefined;
  names(): readonly string[];
  /** Makes the folder where there is none. */
  open(name: string): Folder;
  put(name: string, text: Buffer, more?: Partial<Pick<StoredMail, "flags" | "structure" | "at">>): void;
  remove(name: string): void;
}

export function createFolders(): Folders {
  const folders = new Map<string, Folder>();
  let validity = 1_000;
  function open(name: string): Folder {
    const known = folders.get(name);
    if (known !== undefined) return known;
    validity += 1;
    const folder = { validity, next: 1, mails: [] };
    folders.set(name, folder);
    return folder;
  }
  return {
    get: (name) => folders.get(name),
    names: () => [...folders.keys()],
    open,
    put(name, text, more = {}) {
      const folder = open(name);
      folder.mails.push({ uid: folder.next, text, flags: [], at: new Date(), ...more });
      folder.next += 1;
    },
    remove: (name) => void folders.delete(name),
  };
}

/** By a range of numbers, a header field or a day. */
export function searchIn({ mails }: Folder, criteria: string): readonly number[] {
  const [, from, to] = /\bUID (\d+):(\d+|\*)/i.exec(criteria) ?? [];
  const [, header, value = ""] = /\bHEADER "?([\w-]+)"? "?<?([^">]*)>?"?/i.exec(criteria) ?? [];
  const since = /\bSINCE "?([\w-]+)"?/i.exec(criteria)?.[1];
  const last = mails.at(-1)?.uid;
  if (/\bUID \*/i.test(criteria)) return last === undefined ? [] : [last];
  const isFound = (mail: StoredMail): boolean => {
    if (from !== undefined) {
      const end = to === "*" ? Number.POSITIVE_INFINITY : Number(to);
      // The last mail is in a range to the end, whatever its number.
      return (mail.uid >= Number(from) && mail.uid <= end) || (to === "*" && mail.uid === last);
    }
    if (header !== undefined) return headerOf(mail, header)?.includes(value) === true;
    return since === undefined || mail.at.getTime() >= Date.parse(`${since} UTC`);
  };
  return mails.filter(isFound).map(({ uid }) => uid);
}
