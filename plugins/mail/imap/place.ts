/** Where reading of a mailbox by IMAP continues, and of which user's mailbox that is. */
import { createHash } from "node:crypto";
import type { Cursor } from "../source.ts";

/** How far a folder was read. */
export interface Place {
  /** UIDVALIDITY: with another value, ids name other mails. */
  readonly validity: string;
  readonly uid: number;
}

/** The entry of the cursor that is not a folder; no folder has an empty name. */
const userEntry = "";

export interface Places {
  /** `undefined` for a folder that was not read before. */
  of(folder: string): Place | undefined;
  /**
   * Follows the UIDVALIDITY in ids, so that ids of the mailboxes of several users under one name differ. Empty for the
   * first user.
   */
  readonly suffix: string;
  /** The cursor with these places, for the given folders. */
  cursor(places: { readonly [folder: string]: Place }, folders: readonly string[]): Cursor;
}

/**
 * Reads a cursor. The places of another user are ignored, because servers such as Gmail's use the same UIDVALIDITY for
 * every mailbox. Earlier versions stored no user.
 */
export function placesIn(stored: Cursor, user: string): Places {
  const digest = createHash("sha256").update(user.trim().toLowerCase()).digest("hex").slice(0, 16);
  const { [userEntry]: entry, ...folders } = stored as { readonly [key: string]: unknown };
  const { digest: before = digest, changes: changed = 0 } = (entry ?? {}) as {
    readonly digest?: string;
    readonly changes?: number;
  };
  const isOtherUser = before !== digest;
  const changes = isOtherUser ? changed + 1 : changed;
  const known = (isOtherUser ? {} : folders) as { readonly [folder: string]: Partial<Place> };
  return {
    // Earlier versions stored no number if the server did not state the next one.
    of: (folder) => (typeof known[folder]?.uid === "number" ? (known[folder] as Place) : undefined),
    suffix: changes === 0 ? "" : `.${changes}`,
    cursor(places, wanted) {
      const next: { [key: string]: { readonly [field: string]: string | number } } = {
        [userEntry]: { digest, changes },
      };
      for (const folder of wanted) {
        const place = places[folder] ?? known[folder];
        if (place !== undefined) next[folder] = { ...(place as Place) };
      }
      return next;
    },
  };
}

/** The id of a mail: `<account>:<folder>:<uidvalidity>:<uid>`. */
export function idOf(account: string, folder: string, { validity, uid }: Place, suffix: string): string {
  return `${account}:${folder}:${validity}${suffix}:${uid}`;
}

/** The place of a mail. The name of a folder may contain colons. */
export function placeOf(id: string, account: string): Place & { readonly folder: string } {
  const [uid = "", validity = "", ...folder] = id
    .slice(account.length + 1)
    .split(":")
    .reverse();
  return { folder: folder.reverse().join(":"), validity: validity.replace(/\..*$/, ""), uid: Number(uid) };
}
